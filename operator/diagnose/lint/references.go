package lint

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// missing reports missing Secrets and ConfigMaps that only the pods of a workload need, and
// returns the fields that refer to them.
func (l *linter) missing(self Finding, w dryrun.Workload, made dryrun.Outcome) (fields []string) {
	if !l.advises { // other objects are unknown
		return nil
	}
	for _, m := range l.objects.Missing(w, made) {
		fields = append(fields, m.Field)
		l.rejected(self, CodeMissingReference, m, "")
	}
	return fields
}

// instead returns a suggestion for a missing Secret, ConfigMap or key, as the end of a message.
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

// referring returns the field with the missing name or key below the field of a finding. It
// defaults to the field of the finding.
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

// reference returns the path of the first reference to an object within a node: that of its
// key, or of its name if key is empty. It descends at most depth levels.
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

// inContent moves a finding about the content of a Secret or ConfigMap to the line of that
// content, if the manifest has it as plain text.
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
		if value == nil || block == "data" && err.Ref.Kind == assets.Secret { // base64, without lines
			continue
		}
		f.File, f.Line = at.File, t.first+value.Line-1
		if value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 { // the text starts on the next line
			f.Line += err.Line
		}
	}
	return f
}

// indexAtEnd matches a trailing index, which refers to the content and not to the field.
var indexAtEnd = regexp.MustCompile(`\[\d+\]$`)
