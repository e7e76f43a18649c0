package engine

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// answering returns a client of an API server that responds to every request with an error.
func answering(t *testing.T, status *apierrors.StatusError) *client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.ErrStatus.Code))
		if err := json.NewEncoder(w).Encode(status.ErrStatus); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	c, err := client.New(&rest.Config{Host: srv.URL}, scheme, v1.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The API server responds with 422 both to a patch of a stale version and to a patch of an object
// that no longer passes validation: only the former is temporary.
func TestHoldOfAWorkloadThatIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		answer *apierrors.StatusError
		fails  bool
	}{
		"there is a newer version": {apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", "testing path failed", 0, false), false},
		"it is invalid":            {apierrors.NewInvalid(schema.GroupKind{Kind: "Prometheus"}, "main", field.ErrorList{field.Required(field.NewPath("spec", "x"), "")}), true},
	} {
		t.Run(name, func(t *testing.T) {
			c := unwired(t, named(catalog.ThanosRuler, "ruler"))
			c.crds = apply.NewObjects(answering(t, tc.answer), catalog.ThanosRuler)
			if err := c.hold(t.Context(), &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Name: "main", UID: "1"}}); (err != nil) != tc.fails {
				t.Errorf("%v", err)
			}
			// The same on deletion: the cached version predates the removal of the finalizer.
			held := &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Name: "main", UID: "1", Finalizers: []string{statusFinalizer}}}
			if err := c.removeFinalizer(t.Context(), held); (err != nil) != tc.fails {
				t.Errorf("release: %v", err)
			}
		})
	}
}
