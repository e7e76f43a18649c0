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
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// maxRows bounds the rows of a page.
const maxRows = 100

// request is a question of a person, or of a program.
type request struct {
	*http.Request
	query   url.Values // without empty values, which forms send
	of      insight.Object
	answers insight.Answers
	rights  insight.Rights
	body    []byte          // of a program's POST
	preview *preview.Report // of the manifests, once it is known
	twin    bool            // JSON is asked for
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

// key is the object that the path names.
func (q *request) key() types.NamespacedName {
	name := q.PathValue("name")
	if strings.HasSuffix(q.URL.Path, "/"+name) {
		name = strings.TrimSuffix(name, ".json")
	}
	return types.NamespacedName{Namespace: q.PathValue("namespace"), Name: name}
}

// nobody is asked about on pages about everything.
func nobody(*request) (insight.Object, error) { return insight.Object{}, nil }

func pod(q *request) (insight.Object, error) {
	return insight.Object{NamespacedName: q.key()}, nil
}

func object(q *request) (insight.Object, error) {
	i := slices.IndexFunc(catalog.All, func(r *catalog.Row) bool { return r.Resource == q.PathValue("resource") })
	if i < 0 {
		_, err := noPage(q)
		return insight.Object{}, err
	}
	return insight.Object{Row: catalog.All[i], NamespacedName: q.key()}, nil
}

func noPage(q *request) (*view, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "page"}, q.URL.Path)
}

// allow refuses methods and parameters that the page does not have, and reads the limit.
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
			q.limit = min(q.limit, n) // what does not fit has made it less already
		case !slices.Contains(names, name):
			return bad(name, "not known here")
		case len(values) > 1 && name != "label":
			return bad(name, "given %d times", len(values))
		}
	}
	return nil
}

// oneOf returns a parameter that has only these values; empty when it is not given.
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

// part is the part of a list that is asked for.
func (q *request) part() insight.Page {
	return insight.Page{Filter: q.query.Get("q"), Limit: q.limit, Continue: q.query.Get("continue")}
}

// with is the query with parameters changed, from the first part on; pairs of name and value,
// an empty value for none.
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

// self is the query as it is; empty without parameters.
func (q *request) self() string {
	if len(q.query) == 0 {
		return ""
	}
	return "?" + q.query.Encode()
}

// otherSite is the message about a form of another site.
const otherSite = "pages of other sites may not post here"

// sameOrigin refuses a form that another site sends through a browser.
//
// Browsers say from where it comes if the connection is trustworthy, as one to this machine
// is, where the caller's own permissions are at stake. On others they name an origin, which
// no-referrer makes null: then a proxy has asked for credentials that another site has not.
func (q *request) sameOrigin() error {
	if q.Header.Get("Sec-Fetch-Site") == "" && q.Header.Get("Origin") == "null" {
		return nil
	}
	if err := http.NewCrossOriginProtection().Check(q.Request); err != nil {
		refused := apierrors.NewForbidden(schema.GroupResource{Resource: "page"}, q.URL.Path, err)
		refused.ErrStatus.Message = otherSite // which says nothing about permissions
		return refused
	}
	return nil
}
