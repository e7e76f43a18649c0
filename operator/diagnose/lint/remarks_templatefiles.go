package lint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// templateFiles are the files of templates of an Alertmanager.
type templateFiles struct {
	defined map[string]bool
	// unlisted are the keys of the Secret that define a template, and that the configuration does not name.
	unlisted map[string]string
	// field names the list of the files.
	field string
	// unread means that the Secret with the configuration is not among the manifests.
	unread bool
}

// imageTemplates is a directory of Alertmanager's examples, which its image does not have.
const imageTemplates = "/etc/alertmanager/templates"

// usualImage matches the image of the Alertmanager project.
var usualImage = lazyregexp.New(`(?:^|/)(?:prom|prometheus)/alertmanager(?:[:@]|$)`)

// templateDirectory is the directory with the keys of the Secret of an Alertmanager.
const templateDirectory = "/etc/alertmanager/config"

// templatesOf returns the files of templates of an Alertmanager; nil if they are not all known, which holds for one that is not
// among the manifests.
func (l *linter) templatesOf(am *v1.Alertmanager) *templateFiles {
	id := am.Namespace + "/" + am.Name
	files, known := l.templates[id]
	if !known {
		if l.placeOf(Finding{Kind: catalog.Alertmanager.Kind, Namespace: am.Namespace, Name: am.Name}).File != "" {
			files = l.readTemplates(am)
		}
		if l.templates == nil {
			l.templates = map[string]*templateFiles{}
		}
		l.templates[id] = files
	}
	return files
}

func (l *linter) readTemplates(am *v1.Alertmanager) *templateFiles {
	if base := am.Spec.AlertmanagerConfiguration; base != nil {
		return l.templatesOfFields(am, base)
	}
	ref := assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: am.ConfigSecretName()}
	files := &templateFiles{defined: map[string]bool{}, unlisted: map[string]string{}, field: fmt.Sprintf("templates of %s in %s", v1.AlertmanagerConfigKey, ref)}
	secret, err := l.objects.References.Object(ref)
	if assets.IsNotFound(err) && am.Spec.ConfigSecret == "" {
		files.unread = true
		return files
	}
	root := l.configurationOf(ref, secret)
	if err != nil || secret.Version == manifests.PromisedVersion || root == nil || root.Kind != yaml.MappingNode {
		return nil
	}
	var patterns []string
	if list := find(root, []string{"templates"}); list != nil {
		for _, file := range list.Content {
			if path.Dir(file.Value) == imageTemplates && (am.Spec.Image == "" || usualImage.MatchString(am.Spec.Image)) && !mountedAt(am.Spec.VolumeMounts, am.Spec.Containers, file.Value) {
				continue // nothing is there
			}
			if path.Dir(file.Value) != templateDirectory {
				return nil // a volume, a directory of the image, or one that is reported
			}
			patterns = append(patterns, file.Value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(secret.Values)) {
		if key == v1.AlertmanagerConfigKey {
			continue
		}
		listed := slices.ContainsFunc(patterns, func(p string) bool {
			is, err := path.Match(p, templateDirectory+"/"+key)
			return is || err != nil
		})
		names, known := definedIn(secret.Values[key])
		if !known && listed {
			return nil
		}
		for _, name := range names {
			if listed {
				files.defined[name] = true
			} else {
				files.unlisted[name] = key
			}
		}
	}
	return files
}

// templatesOfFields returns the templates that an Alertmanager names in its own fields; nil if one of them is not known.
func (l *linter) templatesOfFields(am *v1.Alertmanager, base *v1.AlertmanagerConfiguration) *templateFiles {
	files := &templateFiles{defined: map[string]bool{}, field: fmt.Sprintf("spec.alertmanagerConfiguration.templates of Alertmanager %s/%s", am.Namespace, am.Name)}
	for _, from := range base.Templates {
		ref, key := assets.Ref{Kind: assets.Secret, Namespace: am.Namespace}, ""
		switch {
		case from.Secret != nil:
			ref.Name, key = from.Secret.Name, from.Secret.Key
		case from.ConfigMap != nil:
			ref.Kind, ref.Name, key = assets.ConfigMap, from.ConfigMap.Name, from.ConfigMap.Key
		}
		object, err := l.objects.References.Object(ref)
		names, known := definedIn(object.Values[key])
		if err != nil || !known {
			return nil
		}
		for _, name := range names {
			files.defined[name] = true
		}
	}
	return files
}

// severity returns that of remarks about templates: without the Secret, the files may be elsewhere.
func (f *templateFiles) severity() Severity {
	if f.unread {
		return SeverityNote
	}
	return SeverityWarning
}

// definedIn returns the templates of a file. known is false for one that cannot be parsed, and for one without a template, such
// as a placeholder or an encrypted one.
func definedIn(file []byte) (names []string, known bool) {
	names, known = templatecost.Defines(string(file))
	return names, known && len(names) > 0
}

// undefined returns why Alertmanager cannot expand a text: it calls a template that no file defines. Empty if all may be
// defined. Alertmanager's own ones depend on its version, and have names such as slack.default.title and __subject.
func (f *templateFiles) undefined(text string) string {
	for _, name := range templatecost.Calls(text) {
		switch key := f.unlisted[name]; {
		case f.defined[name], strings.Contains(name, ".default."), strings.HasPrefix(name, "__"):
			continue
		case key != "":
			return fmt.Sprintf("the file with template %q is not named: add %s/%s to %s", name, templateDirectory, key, f.field)
		}
		candidates := slices.Sorted(maps.Keys(f.defined))
		if strings.Contains(name, "default") {
			candidates = append(candidates, ownTemplates...)
		}
		if meant := manifest.Similar(name, candidates); meant != "" {
			return fmt.Sprintf("no file of templates defines %q, did you mean %q?", name, meant)
		}
		among := ""
		if f.unread {
			among = " among the manifests"
		}
		return fmt.Sprintf("no file of templates%s defines %q, and it is none of Alertmanager's own, such as slack.default.title: name its file in %s", among, name, f.field)
	}
	return ""
}

// ownTemplates are templates of Alertmanager that users call.
var ownTemplates = []string{
	"slack.default.title", "slack.default.text", "slack.default.fallback", "slack.default.titlelink", "email.default.html", "email.default.subject",
	"opsgenie.default.message", "opsgenie.default.description", "pagerduty.default.description", "pagerduty.default.instances",
	"telegram.default.message", "discord.default.message", "discord.default.title", "msteams.default.text", "msteams.default.title",
}
