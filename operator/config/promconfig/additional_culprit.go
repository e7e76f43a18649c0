package promconfig

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/relabel"
	yamlv2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// mostCulprits is the maximum number of values that are reported for one item.
const mostCulprits = 5

// checkValues reports the values of an item that the parser rejects. The parser stops at the first one without
// its position, so parts of the item are parsed until it is found.
func (k itemKind) checkValues(item *yaml.Node, say func(line int, format string, args ...any)) {
	if k.named && manifest.ValueOf(item, jobName) == nil { // reported by checkName
		item = with(item, append(slices.Clone(item.Content), scalar(jobName), scalar("any")))
	}
	for range mostCulprits {
		err := k.readItem(item)
		if err == nil {
			return
		}
		at, rest := k.culprit(item, err)
		if rest == nil {
			say(item.Line, "%s", err)
			return
		}
		say(at.Line, "%s%s", err, meantAction(err, at))
		if !k.discoveries { // the rest of a step is no step
			return
		}
		item = rest
	}
}

// readItem parses one item. The error is the first one, and contains no values.
func (k itemKind) readItem(item *yaml.Node) error {
	list, err := yaml.Marshal([]*yaml.Node{item})
	if err != nil {
		return nil
	}
	err = k.read(list)
	if types, is := errors.AsType[*yamlv2.TypeError](err); is && len(types.Errors) > 0 {
		err = errors.New(types.Errors[0])
	}
	if err == nil {
		return nil
	}
	return withoutValues(err)
}

// culprit returns the innermost value that causes an error by itself, and the item without the
// field that has it; nil if the error is about several fields.
func (k itemKind) culprit(item *yaml.Node, err error) (at, rest *yaml.Node) {
	for i := 0; i+1 < len(item.Content); i += 2 {
		only := func(value *yaml.Node) *yaml.Node {
			pairs := []*yaml.Node{item.Content[i], value}
			if name := manifest.ValueOf(item, jobName); k.named && name != nil && item.Content[i].Value != jobName {
				pairs = append(pairs, scalar(jobName), name)
			}
			return with(item, pairs)
		}
		same := func(value *yaml.Node) bool {
			got := k.readItem(only(value))
			return got != nil && got.Error() == err.Error()
		}
		if same(item.Content[i+1]) {
			rest = with(item, slices.Delete(slices.Clone(item.Content), i, i+2))
			return innermost(item.Content[i+1], same), rest
		}
	}
	return nil, nil
}

// innermost returns the innermost part of a value that is rejected by itself.
func innermost(value *yaml.Node, rejected func(*yaml.Node) bool) *yaml.Node {
	step := 1
	switch value.Kind {
	case yaml.SequenceNode:
	case yaml.MappingNode:
		step = 2
	default:
		return value
	}
	for i := 0; i+step <= len(value.Content); i += step {
		part := value.Content[i+step-1]
		alone := func(part *yaml.Node) bool {
			return rejected(with(value, append(slices.Clone(value.Content[i:i+step-1]), part)))
		}
		if alone(part) {
			return innermost(part, alone)
		}
	}
	return value
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// with returns a copy of a map or list with other contents.
func with(n *yaml.Node, content []*yaml.Node) *yaml.Node {
	out := *n
	out.Content = content
	return &out
}

var relabelActions = []string{
	string(relabel.Replace), string(relabel.Keep), string(relabel.Drop), string(relabel.KeepEqual), string(relabel.DropEqual), string(relabel.HashMod),
	string(relabel.LabelMap), string(relabel.LabelDrop), string(relabel.LabelKeep), string(relabel.Lowercase), string(relabel.Uppercase),
}

// meantAction returns the action that an unknown one resembles, as the end of a message.
func meantAction(err error, n *yaml.Node) string {
	if !strings.HasPrefix(err.Error(), "unknown relabel action") {
		return ""
	}
	if meant := manifest.Similar(n.Value, relabelActions); meant != "" {
		return fmt.Sprintf(", did you mean %s?", meant)
	}
	return ""
}

var discoveryRoles = []string{"pod", "service", "endpoints", "endpointslice", "node", "ingress"}

// checkDiscovery reports roles that the discovery of Kubernetes does not have. Everything else about
// discoveries is left to the server.
func checkDiscovery(list *yaml.Node, say func(line int, format string, args ...any)) {
	for _, one := range list.Content {
		role := manifest.ValueOf(one, "role")
		switch {
		case role == nil || role.Kind != yaml.ScalarNode || slices.Contains(discoveryRoles, role.Value):
		case manifest.Similar(role.Value, discoveryRoles) != "":
			say(role.Line, "unknown role of kubernetes_sd_configs, did you mean %s?", manifest.Similar(role.Value, discoveryRoles))
		default:
			say(role.Line, "unknown role of kubernetes_sd_configs; there are %s", strings.Join(discoveryRoles, ", "))
		}
	}
}

// hasRoles reports whether the discovery of Kubernetes has all roles of a list.
func hasRoles(list any) bool {
	all, _ := list.([]any)
	return !slices.ContainsFunc(all, func(one any) bool {
		discovery, is := one.(gate.Node)
		return is && slices.ContainsFunc(discovery, func(pair gate.Item) bool {
			role, is := pair.Value.(string)
			return is && pair.Key == "role" && !slices.Contains(discoveryRoles, role)
		})
	})
}

// checkTimeout reports a timeout that is longer than the interval of the same job.
func checkTimeout(job *yaml.Node, say func(line int, format string, args ...any)) {
	interval, timeout := manifest.ValueOf(job, "scrape_interval"), manifest.ValueOf(job, "scrape_timeout")
	if interval == nil || timeout == nil {
		return
	}
	every, err := model.ParseDuration(interval.Value)
	atMost, err2 := model.ParseDuration(timeout.Value)
	if err == nil && err2 == nil && atMost > every {
		say(timeout.Line, "scrape_timeout is longer than scrape_interval (line %d)", interval.Line)
	}
}

// wrongType matches the errors of the YAML library about a type.
var wrongType = lazyregexp.New(`cannot unmarshal (!!\w+)(?: …)? into (\S+)`)

// noField matches the errors of the YAML library about a key.
var noField = lazyregexp.New(`field (\S+) not found in type \S+`)

// reworded replaces the Go types in an error by the YAML that is expected.
func reworded(text string) string {
	text = wrongType.ReplaceAllStringFunc(text, func(found string) string {
		m := wrongType.FindStringSubmatch(found)
		return "want " + writtenAs(m[2]) + ", got " + cmp.Or(map[string]string{"!!seq": "a list", "!!map": "a map", "!!bool": "true or false", "!!int": "a number", "!!float": "a number"}[m[1]], "text")
	})
	text = noField.ReplaceAllStringFunc(text, func(found string) string {
		name := noField.FindStringSubmatch(found)[1]
		if meant := manifest.Similar(name, relabelItems.own); meant != "" && strings.HasSuffix(found, "relabel.plain") {
			return "unknown field " + name + ", did you mean " + meant + "?"
		}
		return "unknown field " + name
	})
	text = strings.ReplaceAll(text, "not a valid duration string: …", "want a duration with its unit, such as 30s")
	return strings.ReplaceAll(text, "… is not a valid hostname", "want host:port as target, without scheme and path")
}

// writtenAs returns what to write for a type of Go.
func writtenAs(of string) string {
	switch {
	case strings.HasPrefix(of, "[]"):
		return "a list"
	case of == "bool":
		return "true or false"
	case of == "string":
		return "text"
	case strings.HasPrefix(of, "int"), strings.HasPrefix(of, "uint"), strings.HasPrefix(of, "float"):
		return "a number"
	}
	return "a map"
}
