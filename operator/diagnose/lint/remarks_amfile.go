package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// fileOfAlertmanager reports remarks about the configuration of an Alertmanager in a Secret, at their lines.
func (l *linter) fileOfAlertmanager(self Finding, am *v1.Alertmanager) {
	if am.Spec.AlertmanagerConfiguration != nil {
		return
	}
	ref := assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: am.ConfigSecretName()}
	secret, err := l.objects.References.Object(ref)
	text := secret.Values[v1.AlertmanagerConfigKey]
	var doc yaml.Node
	if err != nil || !lined(text) || yaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 {
		return
	}
	say := func(at, value string, line int) {
		f := self
		f.Severity, f.Code, f.Field, f.Message = SeverityWarning, CodeRemark, "spec.configSecret", fmt.Sprintf("%s, %s: %s", ref, at, value)
		l.add(l.inContent(f, &assets.ContentError{Ref: ref, Key: v1.AlertmanagerConfigKey, Line: line}), "")
	}
	if hidden.Match(text) || nullName.Match(text) {
		hiddenIn(doc.Content[0], strings.Split(string(text), "\n"), func(at, value string, line int) { say(at, hiddenWords(value), line) })
	}
	inhibitionsOfFile(doc.Content[0], say)
	notificationsOfFile(doc.Content[0], l.templatesOf(am), say)
	templates := find(doc.Content[0], []string{"templates"})
	if templates == nil || templates.Kind != yaml.SequenceNode {
		return
	}
	for i, file := range templates.Content {
		if why := unmountedTemplate(am, file.Value, secret.Values); why != "" {
			say(fmt.Sprintf("templates[%d]", i), why, file.Line)
		}
	}
}

// unmountedTemplate returns why the pods of an Alertmanager do not have a template file; empty if they may have it. keys
// has the entries of its Secret, which is mounted with the configuration.
func unmountedTemplate(am *v1.Alertmanager, file string, keys map[string][]byte) string {
	file = path.Clean(file)
	if !path.IsAbs(file) || mountedAt(am.Spec.VolumeMounts, am.Spec.Containers, file) {
		return ""
	}
	for _, from := range []struct {
		dir, list string
		names     []string
	}{{"/etc/alertmanager/secrets/", "spec.secrets", am.Spec.Secrets}, {"/etc/alertmanager/configmaps/", "spec.configMaps", am.Spec.ConfigMaps}} {
		if rest, below := strings.CutPrefix(file, from.dir); below {
			name, _, _ := strings.Cut(rest, "/")
			if slices.Contains(from.names, name) || strings.Contains(name, "*") {
				return ""
			}
			return fmt.Sprintf("no pod has %s, because %s of the Alertmanager does not name %q%s", from.dir+name, from.list, name, manifest.Beside(name, from.names))
		}
	}
	const config = "/etc/alertmanager/config"
	switch dir := path.Dir(file); {
	case dir == config && !strings.ContainsAny(file, "*?[") && keys[path.Base(file)] == nil:
		return fmt.Sprintf("the Secret has no key %s, and the other keys of it are the files of %s", path.Base(file), config)
	case dir == config, dir == config+"_out", dir == "/etc/alertmanager/templates":
		return ""
	default:
		return fmt.Sprintf("no volume is mounted at %s in the pods of the Alertmanager; write %s/%s, and the template as another key of this Secret", dir, config, path.Base(file))
	}
}
