package admission

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
)

// Paths of the webhooks.
const (
	ValidateRulesPath               = wellknown.ValidateRulesPath
	MutateRulesPath                 = wellknown.MutateRulesPath
	ValidateAlertmanagerConfigsPath = wellknown.ValidateAlertmanagerConfigsPath
	ValidateObjectsPath             = "/admission-objects/validate" // for all other kinds
	ConvertPath                     = "/convert"
)

const (
	// maxReviewBytes limits an AdmissionReview, which contains the old and the new object. API
	// servers accept requests of up to 3 MiB.
	maxReviewBytes = 16 << 20
	// maxConversionBytes limits a ConversionReview, which may contain a list of objects.
	maxConversionBytes = 64 << 20
)

// busyWait is how long a request waits for a slot and for memory. API servers time out after 5
// to 10 seconds.
const busyWait = 4 * time.Second

// receiving is the write deadline of a response.
const receiving = 10 * time.Second

// Options configure a [Handler].
type Options struct {
	// Rules are the settings for checking PrometheusRules. The zero value allows the names of
	// Prometheus 2 and no optional features of PromQL.
	Rules rules.Settings
	// Kinds returns fresh kinds of workloads for a single request. If nil, ValidateObjectsPath
	// is not served.
	Kinds func() []*engine.Kind
	// Memory is the memory budget of concurrent requests, shared with the rest of the process.
	// If nil, the budget of the process is used.
	Memory *inflight.Budget
	// Logger logs rejections and panics. If nil, they are discarded.
	Logger *slog.Logger
}

// Handler implements the webhooks.
type Handler struct {
	opts   Options
	log    *slog.Logger
	bodies bodies
	// slots limits concurrent decisions, because more than one per CPU would only delay all of
	// them. A request takes a slot once its body is complete.
	slots *inflight.Budget
}

// New returns a [Handler].
func New(o Options) *Handler {
	if o.Memory == nil {
		o.Memory = inflight.Process()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Handler{
		opts: o, log: o.Logger.With("component", "admissionwebhook"),
		bodies: newBodies(inflight.Memory()), slots: inflight.New(int64(max(2, runtime.GOMAXPROCS(0)))),
	}
}

// Register registers the handlers of all paths.
func (h *Handler) Register(mux *http.ServeMux) {
	mux.Handle(ValidateRulesPath, h.review(h.validateRule))
	mux.Handle(MutateRulesPath, h.review(mutateRule))
	mux.Handle(ValidateAlertmanagerConfigsPath, h.review(validateAlertmanagerConfig))
	if h.opts.Kinds != nil {
		mux.Handle(ValidateObjectsPath, h.review(h.validateObject))
	}
	mux.Handle(ConvertPath, h.answer(maxConversionBytes, conversionWeight, h.convert))
}

// answer returns a handler that reads a body, takes a slot and writes the result of decide.
//
// decide returns the status code and a JSON document or, for error codes, an error. weight
// returns the memory that decide needs, in bytes.
func (h *Handler) answer(most int64, weight func(body []byte) int64, decide func(body []byte) (code int, document any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer h.recover(w, r)
		in, err := h.bodies.read(w, r, most)
		if err != nil {
			fail(w, r, err)
			return
		}
		defer in.release()
		memory, err := h.opts.Memory.Take(r.Context(), weight(in.bytes), busyWait)
		if err != nil {
			fail(w, r, err)
			return
		}
		defer memory()
		slot, err := h.slots.Take(r.Context(), 1, busyWait)
		if err != nil {
			fail(w, r, err)
			return
		}
		defer slot()
		code, document := decide(in.bytes)
		slot() // release the slot before the response is sent
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(receiving))
		switch document := document.(type) {
		case error:
			http.Error(w, document.Error(), code)
		case pieces:
			document.write(w, code)
		default:
			httpserver.WriteJSON(w, code, document)
		}
	})
}

// fail responds to a request that could not be decided. It writes nothing if the caller has
// canceled the request.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	if refused, is := errors.AsType[*refusedBody](err); is {
		http.Error(w, refused.Error(), refused.code)
		return
	}
	if r.Context().Err() == nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// pieces is a JSON document in pieces, to avoid copying them.
type pieces [][]byte

func (p pieces) write(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	for _, piece := range p {
		if _, err := w.Write(piece); err != nil {
			return // the caller has disconnected
		}
	}
}

// recover responds to a panic with status 500, for which the API server applies the failure
// policy.
func (h *Handler) recover(w http.ResponseWriter, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	if fault == http.ErrAbortHandler { //nolint:errorlint // is panicked with as it is
		panic(fault)
	}
	h.log.Error("webhook panicked", "path", r.URL.Path, "panic", fault, "stack", string(debug.Stack()))
	http.Error(w, "the webhook panicked, see its log", http.StatusInternalServerError)
}
