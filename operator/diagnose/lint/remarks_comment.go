package lint

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// hidden matches a field whose value may be a comment, such as "channel: #alerts".
var hidden = lazyregexp.New(`(?m)^[^#"']*:[ \t]+(#[\w.-]+)[ \t\r]*$`)

// commented reports fields without a value whose intended value begins with # and therefore is a comment, or with ! and is a
// tag, and keys that are no text.
func (l *linter) commented() {
	documents := map[string][]string{} // the lines of each document, which the items of a List share; nil without such a field
	for _, row := range catalog.All {
		for _, o := range l.objects.All(row) {
			ref := catalog.RefOf(row.Kind, o)
			place := l.objects.Place(ref.Kind, ref.Namespace, ref.Name)
			lines, known := documents[place.String()]
			if !known {
				lines = suspect(place.Text)
				documents[place.String()] = lines
			}
			if lines == nil || l.tree(place).root == nil {
				continue
			}
			say := l.say(about(ref))
			booleanKeys(say, l.tree(place).root)
			taggedValues(say, l.tree(place).root)
			hiddenIn(l.tree(place).root, lines, func(path, value string, _ int) {
				say(path, "%s", hiddenWords(value))
			})
		}
	}
}

// suspect returns the lines of a document that may have a field of which [linter.commented] reports something, or nil.
func suspect(document []byte) []string {
	if !hidden.Match(document) && !nullName.Match(document) && !booleanKey.Match(document) && !tagged.Match(document) {
		return nil
	}
	return strings.Split(string(document), "\n")
}

// booleanKey matches a key that YAML may read as true or false.
var booleanKey = lazyregexp.New(`(?m)(?:^[ \t-]*|[{,][ \t]*)(?i:y|n|yes|no|on|off)[ \t]*:`)

// booleanKeys reports keys that are true or false, so that another name counts than the one that is written.
func booleanKeys(say says, root *yaml.Node) {
	for n := range manifest.Nodes("", root) {
		if n.Key == nil || n.Key.Style != 0 || n.Key.Tag == "!!merge" {
			continue
		}
		if read := booleans[n.Key.Value]; read != "" {
			say(n.Path, "YAML reads the key %s as %s, which is then its name; write %q with quotes", n.Key.Value, read, n.Key.Value)
		}
	}
}

// tagged matches a value that may begin with a tag of YAML.
var tagged = lazyregexp.New(`(?:^|\s)![^!\s]`)

// taggedValues reports values that begin with !, which YAML does not read as a part of them.
func taggedValues(say says, root *yaml.Node) {
	for n := range manifest.Nodes("", root) {
		if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(n.Tag, "!!") {
			say(n.Path, "! begins a tag in YAML, which is no part of the value: put the whole value in quotes")
		}
	}
}

// nullName matches a name that YAML reads as no value.
var nullName = lazyregexp.New(`\b(name|receiver): *null\b`)

func hiddenWords(value string) string {
	if value == "null" {
		return "has no value, because null is none in YAML; write 'null' with quotes for this name"
	}
	return fmt.Sprintf("has no value, because # begins a comment; write %q with quotes if that is the value", value)
}

// hiddenIn calls found for each field below a value that has no value itself and a comment of one word in its line, and
// for names that are null.
func hiddenIn(root *yaml.Node, lines []string, found func(path, value string, line int)) {
	for n := range manifest.Nodes("", root) {
		if n.Key == nil || n.Kind != yaml.ScalarNode || n.Style != 0 {
			continue
		}
		switch {
		case n.Value == "null" && nullName.MatchString(n.Key.Value+": null"):
			found(n.Path, n.Value, n.Key.Line)
		case n.Value == "" && n.Key.Line <= len(lines):
			if m := hidden.FindStringSubmatch(lines[n.Key.Line-1]); m != nil {
				found(n.Path, m[1], n.Key.Line)
			}
		}
	}
}
