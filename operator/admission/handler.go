package admission

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/rules"
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

// Options say how requests are decided.
type Options struct {
	// Rules are the settings under which PrometheusRules are checked. The zero value has
	// the names of Prometheus 2 and no optional part of PromQL.
	Rules rules.Settings
	// Kinds returns new kinds of workloads, which are used for one request. Without it,
	// ValidateObjectsPath is not served.
	Kinds func() []*engine.Kind
	// Logger gets refusals and panics; nil discards them.
	Logger *slog.Logger
}

// Handler answers the webhooks.
type Handler struct {
	opts Options
	log  *slog.Logger
	// slots bound how many requests are decided at a time, and with them the memory:
	// more than there are CPUs would only make all of them late.
	slots chan struct{}
}

// New returns a handler.
func New(o Options) *Handler {
	h := &Handler{opts: o, log: o.Logger, slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
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
	mux.Handle(ConvertPath, h.answer(maxConversionBytes, h.convert))
}

// answer reads a body and writes what decide makes of it.
//
// decide returns the status code, and a JSON document or, for codes of errors, an error.
func (h *Handler) answer(most int64, decide func(body []byte) (code int, document any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer h.recover(w, r)
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		case <-r.Context().Done(): // nobody waits for the answer any more
			return
		}
		body, code, err := read(w, r, most)
		if err != nil {
			http.Error(w, err.Error(), code)
			return
		}
		code, document := decide(body)
		if err, failed := document.(error); failed {
			http.Error(w, err.Error(), code)
			return
		}
		httpserver.WriteJSON(w, code, document)
	})
}

// read returns the body of a request, or the status code of an error.
func read(w http.ResponseWriter, r *http.Request, most int64) (body []byte, code int, err error) {
	if r.ContentLength > most {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body has %d bytes, the limit is %d", r.ContentLength, most)
	}
	var buffer bytes.Buffer
	if r.ContentLength > 0 {
		buffer.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if r.Body != nil {
		_, err = io.Copy(&buffer, http.MaxBytesReader(w, r.Body, most))
	}
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body is longer than %d bytes", most)
	}
	switch {
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("read the body: %w", err)
	case buffer.Len() == 0:
		return nil, http.StatusBadRequest, errors.New("the body is empty")
	case r.Header.Get("Content-Type") != "application/json":
		return nil, http.StatusUnsupportedMediaType, errors.New("Content-Type must be application/json")
	}
	return buffer.Bytes(), 0, nil
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
