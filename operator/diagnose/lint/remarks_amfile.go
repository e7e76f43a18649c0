package lint

import (
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// saysAt reports a remark about a path in the configuration of an Alertmanager, at a line.
type saysAt func(at, value string, line int)

// fileOfAlertmanager reports remarks about the configuration of an Alertmanager in a Secret, at their lines.
func (l *linter) fileOfAlertmanager(self Finding, am *v1.Alertmanager) {
	if am.Spec.AlertmanagerConfiguration != nil {
		return
	}
	ref := assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: am.ConfigSecretName()}
	secret, err := l.objects.References.Object(ref)
	text := secret.Values[v1.AlertmanagerConfigKey]
	root := l.configurationOf(ref, secret)
	if err != nil || root == nil {
		return
	}
	saying := func(severity Severity) saysAt {
		return func(at, value string, line int) {
			l.remarkIn(self, severity, "spec.configSecret", &assets.ContentError{Ref: ref, Key: v1.AlertmanagerConfigKey, Line: line}, at+": "+value)
		}
	}
	say := saying(SeverityWarning)
	if hidden.Match(text) || nullName.Match(text) {
		hiddenIn(root, strings.Split(string(text), "\n"), func(at, value string, line int) { say(at, hiddenWords(value), line) })
	}
	inhibitionsOfFile(root, say, saying(SeverityNote))
	l.routesOfFile(root, retentionOf(am), say, saying(SeverityNote))
	filesOfFile(root, am, say)
	notificationsOfFile(root, l.templatesOf(am), say)
	templates := find(root, []string{"templates"})
	if templates == nil || templates.Kind != yaml.SequenceNode {
		return
	}
	for i, file := range templates.Content {
		if why := unmountedTemplate(am, file.Value, secret.Values); why != "" {
			say(fmt.Sprintf("templates[%d]", i), why, file.Line)
		}
	}
}

// mountedForAlertmanager matches a file of a Secret or ConfigMap that the Alertmanager must mount, with the directory.
var mountedForAlertmanager = lazyregexp.New(`^(/etc/alertmanager/(?:secrets|configmaps)/[a-z0-9.-]{1,253})/[^\s"']{1,253}$`)

// maxMountedObjects is the maximum number of Secrets and ConfigMaps of the files in one configuration that are looked at.
const maxMountedObjects = 100

// filesOfFile reports files, such as api_url_file, of which the Alertmanager does not mount the Secret or ConfigMap.
func filesOfFile(file *yaml.Node, am *v1.Alertmanager, say saysAt) {
	seen := map[string]bool{}
	for n := range manifest.Nodes("", file) {
		if n.Kind != yaml.ScalarNode || !strings.HasSuffix(n.Path, "_file") {
			continue
		}
		m := mountedForAlertmanager.FindStringSubmatch(n.Value)
		if m == nil || seen[m[1]] {
			continue
		}
		if len(seen) == maxMountedObjects {
			return
		}
		seen[m[1]] = true
		if why := unlistedFile(am, n.Value); why != "" && !mountedAt(am.Spec.VolumeMounts, am.Spec.Containers, n.Value) {
			say(n.Path, why, n.Line)
		}
	}
}

// unlistedFile returns why the pods of an Alertmanager do not have a file of a Secret or ConfigMap; empty if they have it.
func unlistedFile(am *v1.Alertmanager, file string) string {
	return unlisted("/etc/alertmanager", "the Alertmanager", am.Spec.Secrets, am.Spec.ConfigMaps, file)
}

// unmountedTemplate returns why the pods of an Alertmanager do not have a template file; empty if they may have it. keys
// has the entries of its Secret, which is mounted with the configuration.
func unmountedTemplate(am *v1.Alertmanager, file string, keys map[string][]byte) string {
	file = path.Clean(file)
	if !path.IsAbs(file) || mountedAt(am.Spec.VolumeMounts, am.Spec.Containers, file) {
		return ""
	}
	if strings.HasPrefix(file, "/etc/alertmanager/secrets/") || strings.HasPrefix(file, "/etc/alertmanager/configmaps/") {
		return unlistedFile(am, file)
	}
	const config = "/etc/alertmanager/config"
	switch dir := path.Dir(file); {
	case dir == config && !strings.ContainsAny(file, "*?[") && keys[path.Base(file)] == nil:
		return fmt.Sprintf("the Secret has no key %s, and the other keys of it are the files of %s", path.Base(file), config)
	case dir == config, dir == config+"_out", dir == imageTemplates:
		return ""
	default:
		return fmt.Sprintf("no volume is mounted at %s in the pods of the Alertmanager; write %s/%s, and the template as another key of this Secret", dir, config, path.Base(file))
	}
}
