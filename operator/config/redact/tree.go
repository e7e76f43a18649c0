package redact

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// Paths selects which paths of URLs are redacted, besides user info and parameters.
type Paths int

// The paths that are redacted.
const (
	NoPaths   Paths = iota
	LongPaths       // their long segments, which may be API keys
	AllPaths        // entirely: they identify the sender, as those of webhooks
)

// Tree redacts YAML.
type Tree struct {
	// Values (optional) are values of Secrets. Scalars that contain one are redacted.
	Values *Values
	Paths  Paths
	// Fields is true if keys are fields of a manifest: basicAuth for basic_auth.
	Fields bool
}

// Text returns a document without credentials, unchanged if there are none.
//
// Errors: it is not YAML. The error contains no values.
func (t Tree) Text(text string) (string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", errors.New("not YAML")
	}
	if len(doc.Content) == 0 || !t.Redact(doc.Content[0]) {
		return text, nil
	}
	return Encode(doc.Content[0])
}

// Encode encodes a tree.
func Encode(n *yaml.Node) (string, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return "", err
	}
	return out.String(), nil
}

// Redact redacts the credentials in a tree. It reports whether there were any.
func (t Tree) Redact(root *yaml.Node) bool {
	w := walk{Tree: t}
	w.node(root, "", false)
	return w.changed
}

// constant reports whether a scalar is null or a boolean.
func constant(n *yaml.Node) bool {
	tag := n.ShortTag()
	return tag == "!!null" || tag == "!!bool"
}

// hide replaces the text of a scalar. It reports whether that differs.
func hide(n *yaml.Node, text string) bool {
	if n.Value == text {
		return false
	}
	n.Tag, n.Value, n.Style = "!!str", text, 0
	return true
}

type walk struct {
	Tree
	changed bool
}

// node redacts the tree below a key, all of it or only the credentials.
func (w *walk) node(n *yaml.Node, key string, all bool) {
	if w.Fields {
		if isReference(n) {
			return
		}
		key = underscored(key)
	}
	all = all || slices.Contains(secretMaps, key)
	switch n.Kind {
	case yaml.ScalarNode:
		w.scalar(n, key, all)
	case yaml.MappingNode:
		w.relabel(n)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			w.node(n.Content[i+1], name, all || key == params && isCredentialParam(name))
		}
	default:
		for _, child := range n.Content {
			w.node(child, key, all)
		}
	}
}

var (
	pathOfURL = lazyregexp.New(`(://[^/\s?#]+/)[^\s?#]+`)
	// longPart matches a segment of a path that is long enough for an API key.
	longPart = lazyregexp.New(`(/)[^/]{20,}`)
)

// scalar redacts a value, or the credentials in it.
func (w *walk) scalar(n *yaml.Node, key string, all bool) {
	if constant(n) && (!all || n.ShortTag() == "!!null") {
		return
	}
	text := Hidden
	if !all && !Key(key) && !w.Values.In(n.Value) {
		text = w.Paths.redact(Text(n.Value))
	}
	w.changed = hide(n, text) || w.changed
}

// redact redacts the selected paths of the URLs in a text.
func (p Paths) redact(text string) string {
	switch p {
	case AllPaths:
		return pathOfURL.ReplaceAllString(text, "${1}"+Hidden)
	case LongPaths:
		return pathOfURL.ReplaceAllStringFunc(text, func(path string) string {
			host := strings.Index(path[len("://"):], "/") + len("://")
			return path[:host] + longPart.ReplaceAllString(path[host:], "${1}"+Hidden)
		})
	}
	return text
}

// relabel redacts the values of a relabel rule that writes a URL parameter or compares one.
func (w *walk) relabel(n *yaml.Node) {
	target, source := w.child(n, "target_label", "targetLabel"), w.child(n, "source_labels", "sourceLabels")
	if target != nil && Label(target.Value) || source != nil && slices.ContainsFunc(source.Content, func(s *yaml.Node) bool { return Label(s.Value) }) {
		for _, key := range []string{"regex", "replacement"} {
			if value := manifest.ValueOf(n, key); value != nil && value.Kind == yaml.ScalarNode {
				w.changed = hide(value, Hidden) || w.changed
			}
		}
	}
}

// child returns the value of a key of a configuration, or of a field of a manifest.
func (w *walk) child(n *yaml.Node, key, field string) *yaml.Node {
	if w.Fields {
		key = field
	}
	return manifest.ValueOf(n, key)
}

// isReference reports whether a node names a key of a Secret or ConfigMap.
func isReference(n *yaml.Node) bool {
	if manifest.ValueOf(n, "key") == nil || manifest.ValueOf(n, "name") == nil {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !slices.Contains([]string{"key", "name", "optional"}, n.Content[i].Value) || n.Content[i+1].Kind != yaml.ScalarNode {
			return false
		}
	}
	return true
}
