package commands

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// registerStatus registers the API path of a complete workload. Here the workload is read
// from the cluster, with the status that its operator has written.
func (c *readable) registerStatus(mux *http.ServeMux) {
	for _, row := range catalog.All {
		if row.IsWorkload() {
			mux.HandleFunc("GET /apis/"+row.GroupVersion().String()+"/namespaces/{namespace}/"+row.Resource+"/{name}/status", c.status(row))
		}
	}
}

func (c *readable) status(row *catalog.Row) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
		object, err := c.reader.Get(r.Context(), row.GroupVersionResource(), key)
		if err != nil {
			is, ok := errors.AsType[*apierrors.StatusError](err)
			if !ok {
				is = apierrors.NewServiceUnavailable(readers.Why(err, "get", row.Resource+" "+key.String()))
			}
			status := is.Status()
			status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
			httpserver.WriteJSON(w, int(status.Code), status)
			return
		}
		object = object.DeepCopyObject().(readers.Object) // the object is shared
		object.GetObjectKind().SetGroupVersionKind(row.GroupVersionKind)
		httpserver.WriteJSON(w, http.StatusOK, object)
	}
}
