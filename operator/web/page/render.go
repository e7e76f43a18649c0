package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web/etag"
)

// Maximum size of a page.
const (
	maxBytes = 60_000
	maxNodes = 2_900 // of the document; the browser adds a few
)

// view is a page that is ready to be rendered.
type view struct {
	Template string // the file without its suffix
	Title    string
	Code     int
	Crumbs   []link
	About    catalog.Ref
	Live     bool // it changes with the cluster
	Twins    []link
	Data     any
	// Answer is the content of the twin. A twin has no other fields.
	Answer any
	// Location (optional) is the target of a redirect.
	Location string

	q    *request
	root string
}

// view returns a page about the object of the request.
func (q *request) view(name, title string) *view {
	v := &view{Template: name, Title: title, Code: http.StatusOK, About: subject(q.of), Live: true, q: q, root: upward(q.URL)}
	if v.About.Name != "" {
		v.Crumbs = []link{v.Link(v.About)}
		if row := catalog.Of(v.About.Kind); row != nil {
			list := v.root + row.Resource
			if row.IsWorkload() {
				list = v.root + "?kind=" + row.Kind
			}
			v.Crumbs = []link{{plural(row.Kind), list}, v.Short(v.About)}
		}
	}
	return v
}

// Root returns the relative path to the root: "../../".
func (v *view) Root() string { return v.root }

// Asset returns the URL of a file.
func (v *view) Asset(name string) string { return v.root + "static/" + assets.names[name] }

//go:embed templates
var sources embed.FS

// layouts returns the templates of pages by name. Each consists of its own file and the common ones. They are parsed
// for the first page, because most commands show none.
var layouts = sync.OnceValue(func() map[string]*template.Template {
	return parse("overview", "list", "workload", "object", "target", "pod", "preview", "error")
})

func parse(names ...string) map[string]*template.Template {
	common := template.Must(template.New("layout.html").Funcs(funcs).ParseFS(sources, "templates/layout.html", "templates/part_*.html"))
	out := map[string]*template.Template{}
	for _, name := range names {
		out[name] = template.Must(template.Must(common.Clone()).ParseFS(sources, "templates/"+name+".html"))
	}
	return out
}

func (v *view) render() ([]byte, error) {
	var b bytes.Buffer
	err := layouts()[v.Template].Execute(&b, v)
	return b.Bytes(), err
}

// fit renders a page with as many rows as its limits permit.
func fit(q *request, show func(*request) (*view, error)) (*view, []byte, error) {
	for {
		v, err := show(q)
		if err != nil || v.Location != "" {
			return v, nil, err
		}
		body, err := v.render()
		if err != nil {
			return nil, nil, fmt.Errorf("page %s: %w", v.Template, err)
		}
		over := max(float64(len(body))/maxBytes, float64(nodes(body))/maxNodes)
		if over <= 1 || q.limit == 1 {
			return v, body, nil
		}
		q.limit = max(1, min(q.limit-1, int(float64(q.limit)*0.9/over)))
	}
}

// nodes returns the number of elements and strings of a document, in which each < and > outside of
// tags is escaped.
func nodes(body []byte) int {
	elements := bytes.Count(body, []byte("<")) - bytes.Count(body, []byte("</"))
	return elements + bytes.Count(body, []byte(">")) - bytes.Count(body, []byte("><"))
}

func writeHTML(w http.ResponseWriter, code int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "private, no-store") // it contains what the caller may see, and becomes stale
	h.Set("Vary", "Authorization, Accept-Encoding")
	w.WriteHeader(code)
	_, _ = w.Write(body) // an error means that the caller has disconnected
}

// writeJSON writes a twin, or 304 if it matches the caller's entity tag.
func writeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	etag.WriteJSON(w, r, body)
	return nil
}

// moment is a human-readable time.
type moment struct {
	Age, Exact string
}

// Age returns the age of a time; empty for the zero time.
func (v *view) Age(t time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	return moment{ageOf(v.q.now, t), t.UTC().Format(time.RFC3339)}
}
