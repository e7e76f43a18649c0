package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/page"
)

// Options configure access to the API, and its logs and metrics.
type Options struct {
	// Mode is Off, Authenticated or Open.
	Mode string
	// Logger (optional) logs faults of the operator.
	Logger *slog.Logger
	// Metrics (optional) is the registry for the metrics of requests.
	Metrics prometheus.Registerer
}

// Handler serves the API. It serves from the start of the process and responds 503 until it is
// connected.
type Handler struct {
	mode    string
	log     *slog.Logger
	metrics *metrics
	slots   slots
	streams streams

	mu      sync.RWMutex
	access  *reviewer // nil before Connect, and in mode Open
	kinds   map[*catalog.Row]Workloads
	answers insight.Answers // nil before Answer
}

// New returns the API.
func New(o Options) *Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	m := newMetrics()
	if o.Metrics != nil && o.Mode != Off {
		m.register(o.Metrics)
	}
	return &Handler{
		mode: o.Mode, log: o.Logger, metrics: m, slots: newSlots(atATime, m), streams: newStreams(),
		kinds: map[*catalog.Row]Workloads{},
	}
}

// Connect sets the cluster in which callers have their permissions.
func (h *Handler) Connect(cfg *rest.Config) error {
	if h.mode != Authenticated {
		return nil
	}
	a, err := newReviewer(cfg)
	if err != nil {
		return fmt.Errorf("--web.api=%s: %w", h.mode, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.access = a
	return nil
}

// Add adds the workloads of a kind.
func (h *Handler) Add(row *catalog.Row, of Workloads) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kinds[row] = of
}

// Answer sets the source of responses.
func (h *Handler) Answer(a insight.Answers) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = a
}

// Answers returns the source of responses.
//
// Errors: 503 until it is set.
func (h *Handler) Answers() (insight.Answers, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.answers == nil {
		return nil, apierrors.NewServiceUnavailable("the operator has not read the cluster yet")
	}
	return h.answers, nil
}

// Register registers the paths of the API in mux, and the pages for all other paths; nothing if the
// API is off.
func (h *Handler) Register(mux *http.ServeMux) {
	if h.mode == Off {
		return
	}
	api := http.NewServeMux()
	for i := range routes {
		for _, p := range routes[i].places() {
			api.Handle(p.path, h.metrics.watch(routes[i].Name, h.route(&routes[i], p.row)))
		}
	}
	api.Handle("/", h.metrics.watch(otherPath, http.HandlerFunc(noSuchPath)))
	compressed := gzhttp.GzipHandler(api)
	limited := h.slots.limit(asStatus, compressed)
	for _, root := range roots {
		mux.Handle(root, limited)
	}
	mux.Handle(eventsPath, h.metrics.count(eventsName, h.guard(asStatus, http.HandlerFunc(h.events))))
	pages := h.guard(page.Fail, page.New(page.Options{Answers: h.Answers, Authorize: h.Authorize}))
	mux.Handle("/", h.slots.limit(page.Fail, h.metrics.watch(pagesName, pages)))
	mux.Handle("/events", h.metrics.count(pagesName, pages)) // a stream, which has separate limits
}

// noSuchPath responds to paths without a route.
func noSuchPath(w http.ResponseWriter, r *http.Request) {
	fail(w, refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "the operator has no such page: "+r.URL.Path))
}
