package admission

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
)

// Paths of the webhooks.
const (
	ValidateRulesPath               = "/admission-prometheusrules/validate"
	MutateRulesPath                 = "/admission-prometheusrules/mutate"
	ValidateAlertmanagerConfigsPath = "/admission-alertmanagerconfigs/validate"
	ValidateObjectsPath             = "/admission-objects/validate" // of all other kinds
	ConvertPath                     = "/convert"
)

const (
	// maxReviewBytes bounds one AdmissionReview, which has the object before and after.
	// An API server takes requests of 3 MiB.
	maxReviewBytes = 16 << 20
	// maxConversionBytes bounds one ConversionReview, which may have a list of objects.
	maxConversionBytes = 64 << 20
)

// busyWait is how long a request waits for a slot and for memory. API servers wait for 5 to
// 10 seconds.
const busyWait = 4 * time.Second

// receiving is how long a caller may take to receive an answer.
const receiving = 10 * time.Second

// Options say how requests are decided.
type Options struct {
	// Rules are the settings under which PrometheusRules are checked. The zero value has
	// the names of Prometheus 2 and no optional part of PromQL.
	Rules rules.Settings
	// Kinds returns new kinds of workloads, which are used for one request. Without it,
	// ValidateObjectsPath is not served.
	Kinds func() []*engine.Kind
	// Memory weighs what is decided at a time, together with what else the process does; nil
	// takes that of the process.
	Memory *inflight.Budget
	// Logger gets refusals and panics; nil discards them.
	Logger *slog.Logger
}

// Handler answers the webhooks.
type Handler struct {
	opts   Options
	log    *slog.Logger
	bodies bodies
	// slots bound how many requests are decided at a time: more than there are CPUs would
	// only make all of them late. A request takes one when all of it has arrived.
	slots *inflight.Budget
}

// New returns a handler.
func New(o Options) *Handler {
	if o.Memory == nil {
		o.Memory = inflight.Process()
	}
	h := &Handler{opts: o, log: o.Logger, bodies: newBodies(inflight.Memory()), slots: inflight.New(int64(max(2, runtime.GOMAXPROCS(0))))}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	return h
}

// Register serves all paths.
func (h *Handler) Register(mux *http.ServeMux) {
	mux.Handle(ValidateRulesPath, h.review(h.validateRule))
	mux.Handle(MutateRulesPath, h.review(mutateRule))
	mux.Handle(ValidateAlertmanagerConfigsPath, h.review(validateAlertmanagerConfig))
	if h.opts.Kinds != nil {
		mux.Handle(ValidateObjectsPath, h.review(h.validateObject))
	}
	mux.Handle(ConvertPath, h.answer(maxConversionBytes, conversionWeight, h.convert))
}

// answer reads a body, then takes a slot, and writes what decide makes of the body.
//
// decide returns the status code, and a JSON document or, for codes of errors, an error. weight
// is the memory that decide takes.
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
		slot() // others need not wait until the answer is received
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

// fail answers a request that is not decided; nobody waits any more if its context has ended.
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

// pieces are a JSON document that is not copied together.
type pieces [][]byte

func (p pieces) write(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	for _, piece := range p {
		if _, err := w.Write(piece); err != nil {
			return // the caller has gone
		}
	}
}

// recover answers a panic with an error of the server, with which the API server does
// what the failure policy says.
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
