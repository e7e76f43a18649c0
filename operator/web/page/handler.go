package page

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/stream"
)

// Options are the data sources of the pages.
type Options struct {
	// Answers returns the source of responses.
	//
	// Errors: 503 while the cluster has not been read.
	Answers func() (insight.Answers, error)
	// Authorize returns the permissions of the caller if it may get the object; without a kind, of
	// any authenticated caller. A pod is an Object without Row, with a name.
	//
	// Errors: 401, 403, 503 like those of an API server.
	Authorize func(r *http.Request, o insight.Object) (access.Rights, error)
}

type handler struct {
	Options
	streams *stream.Limits
}

// New returns the handler of the pages. It expects to be at the root of its server, or behind a
// proxy that strips its path prefix. A timeout of requests must exclude /events.
func New(o Options) http.Handler {
	h := &handler{o, stream.NewLimits(maxStreams, maxOfOne)}
	pages := http.NewServeMux()
	for pattern, p := range map[string]page{
		"/{$}":                                  {noObject, overviewPage},
		"/index.json":                           {noObject, overviewPage},
		"/go":                                   {noObject, goPage},
		"/{resource}":                           {noObject, listPage},
		"/preview":                              {noObject, previewPage},
		"/preview.json":                         {noObject, previewPage},
		"/pods/{namespace}/{name}":              {pod, podPage},
		"/pods/{namespace}/{name}/{$}":          {pod, podPage},
		"/{resource}/{namespace}/{name}":        {object, objectPage},
		"/{resource}/{namespace}/{name}/{$}":    {object, objectPage},
		"/{resource}/{namespace}/{name}/target": {object, targetPage},
		"/{resource}/{namespace}/{name}/target.json": {object, targetPage},
		"/": {noObject, noPage},
	} {
		pages.HandleFunc(pattern, h.serve(p))
	}
	mux := http.NewServeMux()
	mux.Handle("/", gzhttp.GzipHandler(pages))
	mux.Handle("/static/", gzhttp.GzipHandler(http.HandlerFunc(static)))
	mux.HandleFunc("/events", h.events)
	return secured(mux)
}

// policy allows a page to load its stylesheet and script and to fetch from its own server, and nothing else. The last
// three directives do not fall back to default-src: the targets of forms, <base>, and the sites that may show a page in
// a frame, where clicks could be hijacked.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		next.ServeHTTP(w, r)
	})
}

// secure sets the headers of every response.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// page is the content of a path.
type page struct {
	// about returns the object that the caller must be allowed to get.
	about func(*request) (insight.Object, error)
	// show returns the page, or its twin.
	show func(*request) (*view, error)
}

func (h *handler) serve(p page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := newRequest(w, r)
		if err := h.answer(w, q, p); err != nil {
			q.suggest(err)
			fail(w, q, err)
		}
	}
}

func (h *handler) answer(w http.ResponseWriter, q *request, p page) error {
	if err := h.enter(q, p.about); err != nil {
		return err
	}
	if q.twin {
		v, err := p.show(q)
		if err != nil {
			return err
		}
		return writeJSON(w, q.Request, v.Answer)
	}
	v, body, err := fit(q, p.show)
	if err != nil {
		return err
	}
	if v.Location != "" { // relative, which http.Redirect would make absolute
		w.Header().Set("Location", v.Location)
		w.WriteHeader(http.StatusSeeOther)
		return nil
	}
	writeHTML(w, v.Code, body)
	return nil
}

// suggest looks for names that the caller may have meant.
func (q *request) suggest(err error) {
	if q.answers == nil || q.of.Row == nil || !apierrors.IsNotFound(err) {
		return
	}
	q.meant, _ = q.answers.Similar(q.Context(), q.rights, q.of) // a failure means no suggestion
}

// enter authorizes the caller before any response reveals which objects exist.
func (h *handler) enter(q *request, about func(*request) (insight.Object, error)) error {
	of, err := about(q)
	if err != nil {
		return err
	}
	q.of = of
	rights, err := h.Authorize(q.Request, of)
	if err != nil {
		return err
	}
	q.rights = rights
	if err := q.sameOrigin(); err != nil {
		return err
	}
	q.answers, err = h.Answers()
	return err
}
