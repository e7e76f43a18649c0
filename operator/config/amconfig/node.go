package amconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// User-supplied documents are edited as node trees: scalars keep their spelling, so that a
// password 0123 or yes is not interpreted as a number or boolean and written differently.

// nodeCost is the cost of a node in addition to its text, in a tree with expanded aliases.
const nodeCost = 8

// parseTree parses a document into a tree without comments, aliases and merge keys, in block
// style; nil if it is empty.
//
// Errors do not contain text of the document.
func parseTree(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, yamlError(placed(text, err))
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	x := expander{left: budget.AliasBytes, keys: map[*yaml.Node]map[string]int{}}
	return x.copy(doc.Content[0], 0)
}

// expander copies nodes and expands aliases, within a budget.
type expander struct {
	left int
	// keys are the indexes of the keys of large copied maps.
	keys map[*yaml.Node]map[string]int
}

// largeMap is the number of keys from which a map is searched by an index.
const largeMap = 50

// indexOf is like the function of this name, in constant time for large maps that only put changes.
func (x *expander) indexOf(n *yaml.Node, key string) int {
	if len(n.Content) < 2*largeMap {
		return indexOf(n, key)
	}
	if x.keys[n] == nil {
		x.keys[n] = map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := n.Content[i]; k.Kind == yaml.ScalarNode {
				x.keys[n][k.Value] = i
			}
		}
	}
	if i, is := x.keys[n][key]; is {
		return i
	}
	return -1
}

var errTooLarge = errors.New("the document is too large when its aliases are replaced")

// maxNodeDepth is the maximum depth of a tree; anchors can contain themselves.
const maxNodeDepth = 1000

func (x *expander) copy(n *yaml.Node, depth int) (*yaml.Node, error) {
	if x.left -= nodeCost + len(n.Value); x.left < 0 || depth > maxNodeDepth {
		return nil, errTooLarge
	}
	switch n.Kind {
	case yaml.AliasNode:
		return x.copy(n.Alias, depth+1)
	case yaml.ScalarNode:
		return &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: scalarStyle(n)}, nil
	}
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Style: n.Style & yaml.TaggedStyle}
	if n.Kind == yaml.MappingNode {
		return out, x.mapping(out, n, depth)
	}
	for _, child := range n.Content {
		c, err := x.copy(child, depth+1)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, c)
	}
	return out, nil
}

// mapping adds the pairs of n to out. A merge key applies at its position, like in
// Alertmanager's library: later pairs replace earlier ones.
func (x *expander) mapping(out, n *yaml.Node, depth int) error {
	written := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			if err := x.merge(out, value, depth); err != nil {
				return err
			}
			continue
		}
		k, err := x.copy(key, depth+1)
		if err != nil {
			return err
		}
		v, err := x.copy(value, depth+1)
		if err != nil {
			return err
		}
		if k.Kind == yaml.ScalarNode && written[k.Value] {
			return fmt.Errorf("line %d: a key is written twice in one map", key.Line)
		}
		written[k.Value] = true
		x.put(out, k, v)
	}
	return nil
}

// openMaps lists keys whose maps Alertmanager's library extends if a merge sets the key again.
// It replaces lists, and blocks that are initialized with defaults.
var openMaps = []string{
	"match", "match_re", "source_match", "source_match_re", "target_match", "target_match_re",
	"headers", "details", "custom_fields", "attributes", "labels",
	"tls_config", "basic_auth", "authorization", "oauth2", "endpoint_params", "confirm", "threading",
}

// put is like [set], for a key that a merge may already have set.
func (x *expander) put(n, key, value *yaml.Node) {
	i := -1
	if key.Kind == yaml.ScalarNode {
		i = x.indexOf(n, key.Value)
	}
	switch {
	case i < 0:
		if x.keys[n] != nil && key.Kind == yaml.ScalarNode {
			x.keys[n][key.Value] = len(n.Content)
		}
		n.Content = append(n.Content, key, value)
	case value.Kind != yaml.MappingNode || n.Content[i+1].Kind != yaml.MappingNode || !slices.Contains(openMaps, key.Value):
		n.Content[i+1] = value
	default:
		for j := 0; j+1 < len(value.Content); j += 2 {
			x.put(n.Content[i+1], value.Content[j], value.Content[j+1])
		}
	}
}

func (x *expander) merge(out, value *yaml.Node, depth int) error {
	if x.left -= nodeCost; x.left < 0 || depth > maxNodeDepth {
		return errTooLarge
	}
	switch value.Kind {
	case yaml.AliasNode:
		return x.merge(out, value.Alias, depth+1)
	case yaml.MappingNode:
		return x.mapping(out, value, depth+1)
	case yaml.SequenceNode: // the first of the list takes precedence
		for i := len(value.Content) - 1; i >= 0; i-- {
			if err := x.merge(out, value.Content[i], depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("a merge key is not followed by a map")
}

// scalarStyle keeps plain scalars plain and writes all others in double quotes, so that any
// text fits on one line.
func scalarStyle(n *yaml.Node) yaml.Style {
	tagged := n.Style & yaml.TaggedStyle
	if n.Style&^yaml.TaggedStyle&^yaml.FlowStyle == 0 {
		return tagged
	}
	return tagged | yaml.DoubleQuotedStyle
}

// encodeNode encodes a tree without indentation, with every scalar on one line.
func encodeNode(n *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return out.Bytes(), nil
}

// get returns the value of a key of a map; nil if it is missing or null, or if n is not a map.
func get(n *yaml.Node, key string) *yaml.Node {
	if i := indexOf(n, key); i >= 0 && !isNull(n.Content[i+1]) {
		return n.Content[i+1]
	}
	return nil
}

// remove removes a key from a map.
func remove(n *yaml.Node, key string) {
	if i := indexOf(n, key); i >= 0 {
		n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
	}
}

func indexOf(n *yaml.Node, key string) int {
	if n == nil || n.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			return i
		}
	}
	return -1
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// textOf returns the text of a scalar; "" for other nodes.
func textOf(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || isNull(n) {
		return ""
	}
	return n.Value
}

// isEmpty reports whether n is an empty list, map or text.
func isEmpty(n *yaml.Node) bool { return len(n.Content) == 0 && textOf(n) == "" }

// elementsOf returns the elements of a list; nil for other nodes.
func elementsOf(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

// mapping returns a map with alternating keys, which are strings, and nodes.
func mapping(pairs ...any) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.Content = append(out.Content, scalar(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return out
}

// yamlError returns an error of a YAML library without quoted text.
func yamlError(err error) error {
	const quotes = "'\"`"
	text := err.Error()
	from := 0 // behind the characters of YAML that are quoted
	for {
		i := strings.IndexAny(text[from:], quotes)
		if i < 0 {
			return errors.New(text)
		}
		from += i
		sign := quotedSign.Get().FindString(text[from:])
		if sign == "" {
			return errors.New(text[:from] + "…" + text[strings.LastIndexAny(text, quotes)+1:])
		}
		from += len(sign)
	}
}

// quotedSign matches a character of YAML's syntax in quotes, which no value is.
var quotedSign = lazyregexp.New(`^'[][{},:?\\-]'`)
