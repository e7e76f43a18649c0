package page

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// manifestLine is a line of a manifest.
type manifestLine struct {
	Number int
	Text   string
	Marked bool
}

// editor is a form with a manifest that can be tried.
type editor struct {
	Object   catalog.Ref
	Manifest string
	Editable bool
	Ask      bool   // the manifest is only shown on request
	URL      string // that shows it
	Rows     int
}

// editorOf returns the form for a manifest. Without one, the form has a link that shows it if ask is true.
func (q *request) editorOf(of catalog.Ref, manifest string, ask bool) editor {
	values := q.with("edit", "1")
	return editor{Object: of, Manifest: manifest, Editable: manifest != "" && editable(manifest), Ask: ask, URL: values, Rows: min(30, strings.Count(manifest, "\n")+3)}
}

// maxManifestLines is the maximum number of lines of a manifest on a page.
const maxManifestLines = 60

// manifest adds the manifest of a rejected object, with the line of the field that gets it rejected,
// and the form to try a change.
func (o *selectedObject) manifest(q *request) error {
	if q.query.Get("edit") != "" {
		text, err := q.answers.Manifest(q.Context(), q.of, false)
		o.Edit = q.editorOf(q.of.Ref(), text, false)
		return err
	}
	o.Edit = q.editorOf(q.of.Ref(), "", true)
	i := slices.IndexFunc(o.Workloads, func(v explain.Result) bool { return v.Reason == explain.Rejected })
	if i < 0 {
		return nil
	}
	o.Message = o.Workloads[i].Message
	text, err := q.answers.Manifest(q.Context(), q.of, true)
	if err != nil {
		return nil // the rest of the page is available
	}
	o.Marked = insight.LineOf(text, o.Message)
	o.Lines, o.MoreLines = around(text, o.Marked, min(maxManifestLines, q.limit))
	return nil
}

// around returns up to n lines around this line, or the first ones for line 0.
func around(text string, line, n int) (out []manifestLine, more bool) {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	from := max(0, min(line-n/2, len(all)-n))
	for i := from; i < min(from+n, len(all)); i++ {
		out = append(out, manifestLine{i + 1, head(all[i], maxMore), i+1 == line})
	}
	return out, len(out) < len(all)
}
