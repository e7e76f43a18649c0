package web

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// request is an authorized request.
type request struct {
	*http.Request
	object insight.Object // the object in the path; empty if there is none
	rights access.Rights
	query  query
	writer http.ResponseWriter // for the limit of the body; responses are returned
}

// route handles the requests of a route for objects of a kind.
func (h *Handler) route(of *Route, row *catalog.Row) http.Handler {
	return h.guard(asStatus, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, err := h.admit(w, r, of, row)
		var out any
		if err == nil {
			out, err = of.answer(h, q)
		}
		if err != nil {
			h.fail(w, r, err)
			return
		}
		answer(w, r, out)
	}))
}

// admit parses a request and authorizes its caller.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request, of *Route, row *catalog.Row) (*request, error) {
	if err := allowed(w, r, of.method()); err != nil {
		return nil, err
	}
	object := insight.Object{Row: row, NamespacedName: types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}}
	if of.aboutObject() && !object.Possible() {
		return nil, refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "no object can have the namespace or the name in the path")
	}
	values, err := parse(of.Params, r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	out := &request{Request: r, object: object, query: values, writer: w}
	if of.Needs != needsNothing {
		if out.rights, err = h.Authorize(r, object); err != nil {
			return nil, err
		}
	}
	if row != nil {
		out.object.Row = catalog.Of(row.Kind) // the version that the operator uses
	}
	return out, nil
}

// otherSites detects requests that pages of other sites make a browser send.
var otherSites = http.NewCrossOriginProtection()

// allowed rejects methods that a path does not have, and posts by other sites.
func allowed(w http.ResponseWriter, r *http.Request, method string) error {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		if err := otherSites.Check(r); err != nil {
			return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "pages of other sites may not post here")
		}
		return nil
	}
	only, header := method, method
	if method == http.MethodGet {
		only, header = "GET and HEAD", "GET, HEAD"
	}
	w.Header().Set("Allow", header)
	return refusal(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, cut(r.Method)+" is not possible here, only "+only)
}

// guard isolates a panic of one request from the others: it is logged, and the caller gets 500.
func (h *Handler) guard(fail failing, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			fault := recover()
			if fault == http.ErrAbortHandler {
				panic(fault) // net/http handles it
			}
			if h.logged(r, fault) {
				fail(w, r, apierrors.NewInternalError(errors.New("the code that answers panicked; the log has more")))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// logged logs a panic and reports whether there was one.
func (h *Handler) logged(r *http.Request, fault any) bool {
	if fault != nil {
		h.log.Error("panic while answering a request", "path", r.URL.Path, "err", fault, "stack", string(debug.Stack()))
	}
	return fault != nil
}

// fail writes an error, and logs it if it is a fault of the operator.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	h.metrics.refused(err)
	_, known := errors.AsType[*apierrors.StatusError](err)
	switch {
	case known:
	case errors.Is(err, context.DeadlineExceeded):
		err = refusal(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the answer took longer than "+longest.String())
	case r.Context().Err() != nil: // the caller has disconnected
	default:
		h.log.Error("cannot answer a request", "path", r.URL.Path, "err", err)
	}
	fail(w, err)
}
