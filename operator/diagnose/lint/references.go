package lint

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// missing reports what only the pods of a workload need and is not there, and returns the
// fields that name it.
func (l *linter) missing(self Finding, w manifests.Workload, made manifests.Outcome) (fields []string) {
	if !l.advises { // nothing is known of other objects
		return nil
	}
	for _, m := range l.objects.Missing(w, made) {
		fields = append(fields, m.Field)
		l.rejected(self, CodeMissingReference, m, "")
	}
	return fields
}

// instead says what there is in the place of a Secret, ConfigMap or key that is missing.
func (l *linter) instead(missing *assets.NotFoundError) string {
	known := &l.objects.References
	if missing.Key != "" {
		return manifest.Beside(missing.Key, known.Keys(missing.Ref))
	}
	text := " among the manifests"
	if others := known.Namespaces(missing.Ref.Kind, missing.Ref.Name); len(others) > 0 {
		text += fmt.Sprintf(" (there is one in namespace %s, but references are to namespace %s)", strings.Join(others, ", "), missing.Ref.Namespace)
	}
	return text
}

// referring is the field with the name or the key that is missing, below the field of a
// finding; that field where it is not found.
func (l *linter) referring(f Finding, missing *assets.NotFoundError) string {
	t := l.tree(l.placeOf(f))
	if t.root == nil {
		return f.Field
	}
	at, named := find(t.root, manifests.SplitPath(f.Field))
	if at == nil || named == "" {
		return f.Field
	}
	if path := reference(at, missing.Ref.Name, missing.Key, 3); path != "" {
		return f.Field + path
	}
	return f.Field
}

// reference is the path of the key, or of the name where none is asked for, of the first
// reference to an object within a node.
func reference(n *yaml.Node, name, key string, depth int) string {
	if n.Kind != yaml.MappingNode || depth == 0 {
		return ""
	}
	value := func(field string) string {
		if i := keyIndex(n, field); i >= 0 {
			return n.Content[i+1].Value
		}
		return ""
	}
	switch {
	case value("name") == name && key != "" && value("key") == key:
		return ".key"
	case value("name") == name && key == "":
		return ".name"
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if path := reference(n.Content[i+1], name, key, depth-1); path != "" {
			return "." + n.Content[i].Value + path
		}
	}
	return ""
}

// inContent moves a finding about the content of a Secret or ConfigMap to the line there, if
// the manifest has it as text.
func (l *linter) inContent(f Finding, err *assets.ContentError) Finding {
	f.Field = indexAtEnd.ReplaceAllString(f.Field, "")
	f.Message = err.Error()
	at := l.objects.Place(err.Ref.Kind.String(), err.Ref.Namespace, err.Ref.Name)
	t := l.tree(at)
	if t.root == nil {
		return f
	}
	for _, block := range []string{"stringData", "data"} {
		value, _ := find(t.root, []string{block, err.Key})
		if value == nil || block == "data" && err.Ref.Kind == assets.Secret { // which is base64
			continue
		}
		f.File, f.Line = at.File, t.first+value.Line-1
		if value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 { // the text begins below
			f.Line += err.Line
		}
	}
	return f
}

// indexAtEnd matches the number of an item of the content, which is none of the field.
var indexAtEnd = regexp.MustCompile(`\[\d+\]$`)
