package web

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzhttp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/catalog"
)

// Handler answers the API. It serves from the start of the process, and answers 503 until
// it is connected.
type Handler struct {
	mode string

	mu     sync.RWMutex
	access *access // nil before Connect, and when everybody may read
	kinds  map[*catalog.Row]Workloads
}

// New returns the API. mode is Off, Authenticated or Open.
func New(mode string) *Handler { return &Handler{mode: mode, kinds: map[*catalog.Row]Workloads{}} }

// Connect gives the API the cluster in which callers have their permissions.
func (h *Handler) Connect(cfg *rest.Config) error {
	if h.mode != Authenticated {
		return nil
	}
	a, err := newAccess(cfg)
	if err != nil {
		return fmt.Errorf("--web.api=%s: %w", h.mode, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.access = a
	return nil
}

// Add gives the API the workloads of a kind.
func (h *Handler) Add(row *catalog.Row, of Workloads) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kinds[row] = of
}

// root is below which all paths are.
const root = "/apis/" + v1.GroupName + "/"

// Register enters the paths of the API into mux; none if the API is off.
func (h *Handler) Register(mux *http.ServeMux) {
	if h.mode == Off {
		return
	}
	api := http.NewServeMux()
	for _, row := range catalog.All {
		if row.IsWorkload() {
			api.Handle(path(row)+"/{name}/status", h.object(row, h.status))
		}
	}
	api.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "the operator has no such page: "+r.URL.Path))
	})
	mux.Handle(root, limited(gzhttp.GzipHandler(api)))
}

// path is that of the objects of a kind in a namespace.
func path(row *catalog.Row) string {
	return "/apis/" + row.GroupVersion().String() + "/namespaces/{namespace}/" + row.Resource
}

func resource(row *catalog.Row) schema.GroupResource {
	return schema.GroupResource{Group: row.Group, Resource: row.Resource}
}

// object answers a request about one object, for a caller who may get it.
func (h *Handler) object(row *catalog.Row, about func(*catalog.Row, types.NamespacedName) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
		err := onlyReads(w, r)
		if err == nil {
			err = h.may(r, row, key)
		}
		var out any
		if err == nil {
			out, err = about(row, key)
		}
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, r, out)
	})
}

// onlyReads refuses what does not read, and parameters that no path has.
func onlyReads(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return refusal(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, r.Method+" is not possible here, only GET and HEAD")
	}
	for name := range r.URL.Query() {
		return apierrors.NewBadRequest(fmt.Sprintf("parameter %q: not known here", name))
	}
	return nil
}

// may returns nil if the caller may get the object.
func (h *Handler) may(r *http.Request, row *catalog.Row, key types.NamespacedName) error {
	if h.mode == Open {
		return nil
	}
	h.mu.RLock()
	access := h.access
	h.mu.RUnlock()
	if access == nil {
		return apierrors.NewServiceUnavailable("the operator has not connected to the API server yet")
	}
	return access.check(r, row, key.Namespace, key.Name)
}
