package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// trouble is the content of an error page.
type trouble struct {
	Code    int32
	Message string
	Fix     string
	Meant   []catalog.Ref // existing objects with similar names
}

// fixes are suggestions by status code.
var fixes = map[int32]struct{ title, fix string }{
	http.StatusBadRequest:            {"Invalid request", "Change the address, or begin at the overview."},
	http.StatusUnauthorized:          {"Not signed in", "A browser sends no bearer token by itself. Run `operator ui` (or `kubectl firekeeper ui`) on your machine, which shows these pages with the permissions of your kubeconfig, or use a proxy that sends the header Authorization: Bearer TOKEN."},
	http.StatusForbidden:             {"No permission", "Ask whoever manages RBAC in this cluster for the permission that the message names. A page needs `get` for its object."},
	http.StatusNotFound:              {"Not found", "Check kind, namespace and name. The operator may not watch the namespace, or the object may have been deleted."},
	http.StatusMethodNotAllowed:      {"Not possible", "Pages are read with GET; only the preview takes a POST, and it stores nothing."},
	http.StatusRequestEntityTooLarge: {"Too large", "The preview takes up to 1 MiB of manifests. For more, use `operator targets -f`."},
	http.StatusTooManyRequests:       {"Too many requests", "Wait a second and load the page again."},
	http.StatusServiceUnavailable:    {"Not known yet", "What this page needs could not be read. If the message names a permission, ask for it; else load the page again in a few seconds."},
	http.StatusInternalServerError:   {"Internal error", "A fault of these pages: the log of the operator, or the terminal of `operator ui`, may have more. Please report it."},
	http.StatusGatewayTimeout:        {"Too slow", "Load the page again in a few seconds: what was read is kept. A filter or one job makes it smaller."},
}

// statusOf converts an error to that of an API server.
func statusOf(err error) metav1.Status {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		err = apierrors.NewRequestEntityTooLargeError("more than 1 MiB")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = apierrors.NewTimeoutError("the answer took too long", 1)
	}
	is, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		is = apierrors.NewInternalError(err)
	}
	status := is.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return status
}

// Fail writes an error about a request for a page, as HTML or as a Status. It is for handlers in
// front of the pages.
func Fail(w http.ResponseWriter, r *http.Request, err error) {
	secure(w.Header())
	q := newRequest(w, r)
	q.twin = q.twin || r.URL.Path == "/events"
	fail(w, q, err)
}

// fail writes an error, as HTML or as a Status.
func fail(w http.ResponseWriter, q *request, err error) {
	status := statusOf(err)
	h := w.Header()
	switch status.Code {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		h.Set("Allow", "GET, HEAD")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		after := int32(1)
		if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
			after = d.RetryAfterSeconds
		}
		h.Set("Retry-After", strconv.Itoa(int(after)))
	}
	if q.twin {
		body, _ := json.Marshal(status) // a Status can always be encoded
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(int(status.Code))
		_, _ = w.Write(body)
		return
	}
	v := q.errorPage(status)
	body, err := v.render()
	if err != nil {
		http.Error(w, status.Message, int(status.Code))
		return
	}
	writeHTML(w, v.Code, body)
}

func (q *request) errorPage(status metav1.Status) *view {
	about, ok := fixes[status.Code]
	if !ok {
		about.title = status.Message
	}
	if status.Message == otherSite {
		about.fix = "Open the page from its own address, and send the form again."
	}
	v := q.view("error", about.title)
	v.Code, v.Live = int(status.Code), false
	v.Data = trouble{status.Code, status.Message, about.fix, q.meant}
	return v
}
