package lint

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// tree is the parsed manifest of one object, as written.
type tree struct {
	root  *yaml.Node
	first int // line of the document's first line
}

// placeOf returns the place from which the object of a finding was read.
func (l *linter) placeOf(f Finding) manifests.Place {
	return l.objects.Place(f.Kind, f.Namespace, f.Name)
}

// locate returns file and line of a finding's field.
func (l *linter) locate(f Finding) (file string, line int) {
	p := l.placeOf(f)
	return p.File, l.tree(p).line(f.Field)
}

// tree returns the parsed manifest at a place. It caches the result.
func (l *linter) tree(p manifests.Place) *tree {
	key := p.String() + p.Item
	if t, ok := l.trees[key]; ok {
		return t
	}
	t := &tree{first: p.Line, root: l.document(p)}
	if t.root != nil && p.Item != "" {
		t.root = find(t.root, manifests.SplitPath(p.Item))
	}
	l.trees[key] = t
	return t
}

// A document in which the lines of fields are looked for may have this length in bytes, and this number of values, of
// which each takes up to a kilobyte. Findings in larger ones have the line of the document.
const (
	maxLined  = 16 << 20
	maxValues = 500_000
)

// lined reports whether the lines of fields are looked for in a document. The number of its values is estimated: each is
// followed by a comma or a line break.
func lined(document []byte) bool {
	return len(document) <= maxLined && bytes.Count(document, []byte(","))+bytes.Count(document, []byte("\n")) <= maxValues
}

// parseLined parses a document whose lines are looked for, nil if it is not YAML or too long.
func parseLined(text []byte) *yaml.Node {
	var doc yaml.Node
	if !lined(text) || yaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 {
		return nil
	}
	return doc.Content[0]
}

// document returns the parsed document at a place, nil if it is not YAML or too long. The items of a List share it.
func (l *linter) document(p manifests.Place) *yaml.Node { return l.parsed(p.String(), p.Text) }

// configurationOf returns the parsed configuration of an Alertmanager in a Secret, nil if it is not YAML or too long.
func (l *linter) configurationOf(ref assets.Ref, secret assets.Object) *yaml.Node {
	return l.parsed(ref.String(), secret.Values[v1.AlertmanagerConfigKey])
}

// parsed parses a text once. key identifies it.
func (l *linter) parsed(key string, text []byte) *yaml.Node {
	root, known := l.documents[key]
	if known {
		return root
	}
	root = parseLined(text)
	if l.documents == nil {
		l.documents = map[string]*yaml.Node{}
	}
	l.documents[key] = root
	return root
}

// line returns the line of a field in its file, or of the closest enclosing block
// that exists; 0 if unknown.
func (t *tree) line(field string) int {
	if t.root == nil || t.first == 0 {
		return t.first
	}
	best := t.root.Line
	at := t.root
	for _, part := range manifests.SplitPath(field) {
		next, line := step(at, part)
		if next == nil {
			break
		}
		at, best = next, line
	}
	return t.first + best - 1
}

// written returns a path with its keys as they are written, where YAML reads them as true or false.
func (t *tree) written(field string) string {
	at := t.root
	if at == nil || !strings.Contains(field, "true") && !strings.Contains(field, "false") {
		return field
	}
	out := ""
	rest := field
	for _, part := range manifests.SplitPath(field) {
		next, _ := step(at, part)
		i := strings.Index(rest, part)
		if next == nil || i < 0 {
			break
		}
		key := part
		for at.Kind == yaml.AliasNode {
			at = at.Alias
		}
		if k := keyIndex(at, part); at.Kind == yaml.MappingNode && k >= 0 && booleans[at.Content[k].Value] == part {
			key = at.Content[k].Value
		}
		out, rest, at = out+rest[:i]+key, rest[i+len(part):], next
	}
	return out + rest
}

// find returns the value that a path leads to; nil if there is none.
func find(at *yaml.Node, parts []string) *yaml.Node {
	for _, part := range parts {
		if at, _ = step(at, part); at == nil {
			return nil
		}
	}
	return at
}

// step returns the child of a node and the line of its key, or nil.
func step(n *yaml.Node, part string) (*yaml.Node, int) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		if i := keyIndex(n, part); i >= 0 {
			return n.Content[i+1], n.Content[i].Line
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line
		}
	}
	return nil, 0
}

// booleans maps keys that YAML 1.1 parses as booleans to the resulting key.
var booleans = map[string]string{
	"y": "true", "Y": "true", "yes": "true", "Yes": "true", "YES": "true", "on": "true", "On": "true", "ON": "true",
	"n": "false", "N": "false", "no": "false", "No": "false", "NO": "false", "off": "false", "Off": "false", "OFF": "false",
}

// keyIndex returns the index of a key of a mapping, or -1. It prefers an exact match and falls back
// to a key that differs only in case and "_", which messages may spell as it should be.
func keyIndex(n *yaml.Node, part string) int {
	plain := func(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }
	alike := -1
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i].Value; {
		case key == part:
			return i
		case alike < 0 && (plain(key) == plain(part) || booleans[key] == part):
			alike = i
		}
	}
	return alike
}
