package lint

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
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

// instead returns a suggestion for a Secret, ConfigMap or key that a field refers to and that is missing,
// as the end of a message.
func (l *linter) instead(missing *assets.NotFoundError, field string) string {
	known := &l.objects.References
	switch {
	case missing.Meant != "": // the message names it
		return ""
	case missing.Key != "":
		return manifest.Beside(missing.Key, known.Keys(missing.Ref))
	}
	text := " among the manifests"
	other := missing.Ref
	if other.Kind = assets.ConfigMap; missing.Ref.Kind == assets.ConfigMap {
		other.Kind = assets.Secret
	}
	if _, err := known.Object(other); err == nil {
		text += fmt.Sprintf("; there is a %s of this name", other.Kind)
		switch {
		case strings.HasSuffix(field, ".secret.name"):
			return text + ": write configMap instead of secret"
		case strings.HasSuffix(field, ".configMap.name"):
			return text + ": write secret instead of configMap"
		}
		return text + fmt.Sprintf(", and this field refers to a %s", missing.Ref.Kind)
	}
	if others := known.Namespaces(missing.Ref.Kind, missing.Ref.Name); len(others) > 0 {
		text += fmt.Sprintf(" (there is one in namespace %s, but references are to namespace %s)", strings.Join(others, ", "), missing.Ref.Namespace)
	} else if meant := manifest.Similar(missing.Ref.Name, known.Names(missing.Ref.Kind, missing.Ref.Namespace)); meant != "" {
		text += fmt.Sprintf(" (there is %s: did you mean that?)", meant)
	}
	return text
}

// remarkIn reports a remark about the content of a Secret that a field names.
func (l *linter) remarkIn(self Finding, severity Severity, field string, at *assets.ContentError, text string) {
	self.Severity, self.Code, self.Field, self.Message = severity, CodeRemark, field, fmt.Sprintf("%s, %s", at.Ref, text)
	l.add(l.inContent(self, at), "")
}

// inContent moves a finding about the content of a Secret or ConfigMap to the line of that
// content, if the manifest has it as plain text.
func (l *linter) inContent(f Finding, err *assets.ContentError) Finding {
	at := l.objects.Place(err.Ref.Kind.String(), err.Ref.Namespace, err.Ref.Name)
	t := l.tree(at)
	if t.root == nil {
		return f
	}
	for _, block := range []string{"stringData", "data"} {
		value := find(t.root, []string{block, err.Key})
		if value == nil {
			continue
		}
		f.File, f.Line = at.File, t.first+value.Line-1
		if encoded := block == "data" && err.Ref.Kind == assets.Secret; encoded { // base64, without lines
			continue
		}
		if value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 { // the text starts on the next line
			f.Line += err.Line
		}
	}
	return f
}
