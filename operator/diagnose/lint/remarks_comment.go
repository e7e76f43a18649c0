package lint

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// hidden matches a field whose value may be a comment, such as "channel: #alerts".
var hidden = regexp.MustCompile(`(?m)^[^#"']*:[ \t]+(#[\w.-]+)[ \t\r]*$`)

// commented reports fields without a value whose intended value begins with # and therefore is a comment.
func (l *linter) commented() {
	for _, row := range catalog.All {
		for _, o := range l.objects.All(row) {
			ref := catalog.RefOf(row.Kind, o)
			place := l.objects.Place(ref.Kind, ref.Namespace, ref.Name)
			if !hidden.Match(place.Text) && !nullName.Match(place.Text) || l.tree(place).root == nil {
				continue
			}
			say := l.say(about(ref))
			hiddenIn(l.tree(place).root, "", strings.Split(string(place.Text), "\n"), func(path, value string, _ int) {
				say(path, "%s", hiddenWords(value))
			})
		}
	}
}

// nullName matches a name that YAML reads as no value.
var nullName = regexp.MustCompile(`\b(name|receiver): *null\b`)

func hiddenWords(value string) string {
	if value == "null" {
		return "has no value, because null is none in YAML; write 'null' with quotes for this name"
	}
	return fmt.Sprintf("has no value, because # begins a comment; write %q with quotes if that is the value", value)
}

// hiddenIn calls found for each field below a node that has no value and a comment of one word in its line, and for
// names that are null.
func hiddenIn(n *yaml.Node, path string, lines []string, found func(path, value string, line int)) {
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			hiddenIn(item, fmt.Sprintf("%s[%d]", path, i), lines, found)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			at := strings.TrimPrefix(path+"."+key.Value, ".")
			if value.Kind != yaml.ScalarNode {
				hiddenIn(value, at, lines, found)
				continue
			}
			if value.Value == "null" && value.Style == 0 && nullName.MatchString(key.Value+": null") {
				found(at, value.Value, key.Line)
			}
			if value.Value != "" || value.Style != 0 || key.Line > len(lines) {
				continue
			}
			if m := hidden.FindStringSubmatch(lines[key.Line-1]); m != nil {
				found(at, m[1], key.Line)
			}
		}
	}
}
