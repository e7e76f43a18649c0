package page

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// maxRows is the maximum number of rows of a page.
const maxRows = 100

// request is a request for a page or its twin.
type request struct {
	*http.Request
	query   url.Values // without empty values, which forms send
	of      insight.Object
	answers insight.Answers
	rights  access.Rights
	body    []byte          // of a POST that is not a form
	preview *preview.Report // of the manifests, once it has been computed
	meant   []catalog.Ref   // suggestions if the object does not exist
	twin    bool            // the response is JSON
	limit   int             // of rows
	now     time.Time
}

func newRequest(w http.ResponseWriter, r *http.Request) *request {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	query := r.URL.Query()
	for name, values := range query {
		query[name] = slices.DeleteFunc(values, func(v string) bool { return v == "" })
		if len(query[name]) == 0 {
			delete(query, name)
		}
	}
	return &request{Request: r, query: query, twin: strings.HasSuffix(r.URL.Path, ".json"), limit: maxRows, now: time.Now()}
}

// key returns the object that the path names.
func (q *request) key() types.NamespacedName {
	name := q.PathValue("name")
	if strings.HasSuffix(q.URL.Path, "/"+name) {
		name = strings.TrimSuffix(name, ".json")
	}
	return types.NamespacedName{Namespace: q.PathValue("namespace"), Name: name}
}

// noObject returns no object, for pages about the whole cluster.
func noObject(*request) (insight.Object, error) { return insight.Object{}, nil }

func pod(q *request) (insight.Object, error) { return q.possible(nil) }

func object(q *request) (insight.Object, error) {
	row := rowOf(q.PathValue("resource"))
	if row == nil {
		return insight.Object{}, q.noKind()
	}
	return q.possible(row)
}

// possible returns the object that the path names.
//
// Errors: no object can have the name.
func (q *request) possible(row *catalog.Row) (insight.Object, error) {
	o := insight.Object{Row: row, NamespacedName: q.key()}
	if !o.Possible() {
		_, err := noPage(q)
		return insight.Object{}, err
	}
	return o, nil
}

// noKind is the error for a path with an unknown resource, with a suggestion.
func (q *request) noKind() error {
	resource := q.PathValue("resource")
	row := catalog.Word(resource)
	if row == nil {
		var known []string
		for _, r := range catalog.All {
			known = append(known, r.Resource)
		}
		row = rowOf(manifest.Similar(resource, known))
	}
	if row != nil {
		q.meant = []catalog.Ref{{Kind: row.Kind, Namespace: q.key().Namespace, Name: q.key().Name}}
	}
	_, err := noPage(q)
	return err
}

func noPage(q *request) (*view, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "page"}, q.URL.Path)
}

// allow rejects methods and parameters that the page does not support, and parses the limit.
func (q *request) allow(names ...string) error {
	if q.Method != http.MethodGet && q.Method != http.MethodHead {
		return apierrors.NewMethodNotSupported(schema.GroupResource{Resource: "page"}, q.Method)
	}
	for name, values := range q.query {
		switch {
		case name == "limit":
			n, err := strconv.Atoi(values[0])
			if err != nil || n < 1 || n > maxRows {
				return bad(name, "want a number from 1 to %d, not %q", maxRows, values[0])
			}
			q.limit = min(q.limit, n) // it may have been reduced because the page was too large
		case !slices.Contains(names, name):
			return bad(name, "not known here")
		case len(values) > 1 && name != "label":
			return bad(name, "given %d times", len(values))
		}
	}
	return nil
}

// oneOf returns a parameter with one of these values; empty if it is not set.
func oneOf[S ~string](q *request, name string, values ...S) (S, error) {
	v := S(q.query.Get(name))
	if v != "" && !slices.Contains(values, v) {
		var names []string
		for _, v := range values {
			names = append(names, strconv.Quote(string(v)))
		}
		return "", bad(name, "want one of %s, not %q", strings.Join(names, ", "), v)
	}
	return v, nil
}

func bad(parameter, format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf("parameter %q: ", parameter) + fmt.Sprintf(format, args...))
}

// part returns the requested part of a list.
func (q *request) part() insight.Page {
	return insight.Page{Filter: q.query.Get("q"), Limit: q.limit, Continue: q.query.Get("continue")}
}

// with returns the query for the first part with changed parameters; pairs are names and values, an
// empty value removes the parameter.
func (q *request) with(pairs ...string) string {
	query := url.Values{}
	for name, values := range q.query {
		query[name] = values
	}
	query.Del("continue")
	for i := 0; i < len(pairs); i += 2 {
		query.Del(pairs[i])
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return "?" + query.Encode()
}

// self returns the current query; empty without parameters.
func (q *request) self() string {
	if len(q.query) == 0 {
		return ""
	}
	return "?" + q.query.Encode()
}

// otherSite is the message about a form of another site.
const otherSite = "pages of other sites may not post here"

// sameOrigin rejects a form that another site sends through a browser.
//
// Browsers send Sec-Fetch-Site on trustworthy connections. Those to this machine, where the
// caller's own permissions are at stake, are among them. On other connections browsers send an
// origin, which no-referrer turns into null: then a proxy has required credentials that another
// site does not have.
func (q *request) sameOrigin() error {
	if q.Header.Get("Sec-Fetch-Site") == "" && q.Header.Get("Origin") == "null" {
		return nil
	}
	if err := http.NewCrossOriginProtection().Check(q.Request); err != nil {
		refused := apierrors.NewForbidden(schema.GroupResource{Resource: "page"}, q.URL.Path, err)
		refused.ErrStatus.Message = otherSite // the default one would mention permissions
		return refused
	}
	return nil
}
