package lint

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/fields"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
)

// unsent returns the remark about a template at a path that cannot be expanded. The reason has parts of the template.
func unsent(path, reason string) string {
	const text = "Alertmanager cannot expand this template, so that no notification is sent by it"
	if maySecret.MatchString(path[strings.LastIndexByte(path, '.')+1:]) {
		return text
	}
	return text + ": " + reason
}

// maySecret matches the names of fields whose values may be secret.
var maySecret = lazyregexp.New(`(?i)url|pass|secret|token|key|cred|auth|user|webhook|header`)

// notificationRemarks reports templates of receivers that Alertmanager loads, and cannot expand when an alert fires.
func notificationRemarks(always says, c *v1alpha1.AlertmanagerConfig) {
	for field, text := range fields.Strings("spec.receivers", c.Spec.Receivers) {
		if err := templatecost.Malformed(text.String()); err != nil {
			always(field, "%s", unsent(field, err.Error()))
		}
	}
}

// mostUndefined is the maximum number of remarks about undefined templates of an object: each is compared with all defined ones.
const mostUndefined = 20

// undefinedRemarks reports templates of receivers that call a template that no file of the Alertmanager defines.
func undefinedRemarks(here says, files *templateFiles, c *v1alpha1.AlertmanagerConfig) {
	left := mostUndefined
	for field, text := range fields.Strings("spec.receivers", c.Spec.Receivers) {
		if why := files.undefined(text.String()); why != "" {
			here(field, "%s", unsent(field, why))
			left--
		}
		if left == 0 {
			return
		}
	}
}

// notificationsOfFile is like notificationRemarks and undefinedRemarks for the file of an Alertmanager, with the lines. files
// is nil if its templates are not known.
func notificationsOfFile(file *yaml.Node, files *templateFiles, say saysAt) {
	receivers := find(file, []string{"receivers"})
	if receivers == nil {
		return
	}
	left := mostUndefined
	for n := range manifest.Nodes("receivers", receivers) {
		if n.Kind != yaml.ScalarNode {
			continue
		}
		if err := templatecost.Malformed(n.Value); err != nil {
			say(n.Path, unsent(n.Path, err.Error()), n.Line)
		} else if files != nil && left > 0 {
			if why := files.undefined(n.Value); why != "" {
				say(n.Path, unsent(n.Path, why), n.Line)
				left--
			}
		}
	}
}
