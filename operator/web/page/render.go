package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Bounds of a page.
const (
	maxBytes = 60_000
	maxNodes = 2_900 // of the document; the browser adds a few
)

// view is a page that is ready to be written.
type view struct {
	Template string // the file without its suffix
	Title    string
	Code     int
	Crumbs   []link
	About    catalog.Ref
	Live     bool // it changes when the cluster does
	Twins    []link
	Data     any
	// Answer is what the twin is. Of a twin there is nothing else.
	Answer any
	// Location (optional) is where to go instead.
	Location string

	q    *request
	root string
}

// view begins a page about the object of the request.
func (q *request) view(name, title string) *view {
	v := &view{Template: name, Title: title, Code: http.StatusOK, About: subject(q.of), Live: true, q: q, root: upward(q.URL)}
	if v.About.Name != "" {
		v.Crumbs = []link{v.Link(v.About)}
	}
	return v
}

// Root is the way to the root: "../../".
func (v *view) Root() string { return v.root }

// Asset is the URL of a file.
func (v *view) Asset(name string) string { return v.root + "static/" + assets.names[name] }

//go:embed templates
var sources embed.FS

// layouts are the pages by name. Each is made of its own file, and of what all have.
var layouts = parse("overview", "workload", "object", "target", "pod", "preview", "error")

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
	err := layouts[v.Template].Execute(&b, v)
	return b.Bytes(), err
}

// fit shows a page with as many rows as it may have.
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

// nodes is the number of elements and strings of a document, in which every < and > that is
// not of a tag is escaped.
func nodes(body []byte) int {
	elements := bytes.Count(body, []byte("<")) - bytes.Count(body, []byte("</"))
	return elements + bytes.Count(body, []byte(">")) - bytes.Count(body, []byte("><"))
}

func writeHTML(w http.ResponseWriter, code int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "private, no-store") // it names what the caller may see, and ages
	h.Set("Vary", "Authorization, Accept-Encoding")
	w.WriteHeader(code)
	_, _ = w.Write(body) // the caller has gone
}

// writeJSON writes a twin, or 304 if the caller has it already.
func writeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"` // weak: the body may be compressed
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Authorization, Accept-Encoding")
	h.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), strings.TrimPrefix(tag, "W/")) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	_, _ = w.Write(body) // the caller has gone
	return nil
}

// moment is a time for people.
type moment struct {
	Age, Exact string
}

// Age is how long ago something was; empty for a time that is not known.
func (v *view) Age(t time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	return moment{ageOf(v.q.now, t), t.UTC().Format(time.RFC3339)}
}
