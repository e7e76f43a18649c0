package lint

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
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
var maySecret = regexp.MustCompile(`(?i)url|pass|secret|token|key|cred|auth|user|webhook|header`)

// notificationRemarks reports templates of receivers that Alertmanager loads, and cannot expand when an alert fires.
func notificationRemarks(always says, c *v1alpha1.AlertmanagerConfig) {
	for i := range c.Spec.Receivers {
		eachText(faults.Index("spec.receivers", i), reflect.ValueOf(&c.Spec.Receivers[i]), func(field, text string) {
			if err := templatecost.Malformed(text); err != nil {
				always(field, "%s", unsent(field, err.Error()))
			}
		})
	}
}

// notificationsOfFile is like notificationRemarks for the file of an Alertmanager, with the lines.
func notificationsOfFile(file *yaml.Node, say func(at, value string, line int)) {
	if receivers := find(file, []string{"receivers"}); receivers != nil {
		eachScalar(receivers, "receivers", func(at string, n *yaml.Node) {
			if err := templatecost.Malformed(n.Value); err != nil {
				say(at, unsent(at, err.Error()), n.Line)
			}
		})
	}
}

// eachScalar calls do for the scalars below a node. It does not follow aliases.
func eachScalar(n *yaml.Node, path string, do func(path string, n *yaml.Node)) {
	switch n.Kind {
	case yaml.ScalarNode:
		do(path, n)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			eachScalar(item, fmt.Sprintf("%s[%d]", path, i), do)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			eachScalar(n.Content[i+1], path+"."+n.Content[i].Value, do)
		}
	}
}
