package manifest

import (
	"iter"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// Node is a value in a YAML document.
type Node struct {
	*yaml.Node
	// Path is, for example, receivers[0].name.
	Path string
	// Key is the key of its field; nil for items of lists.
	Key *yaml.Node
}

// Nodes yields a value at a path and all values below it except keys, parents first. It does not follow aliases. Long paths
// are truncated.
func Nodes(path string, root *yaml.Node) iter.Seq[Node] {
	return func(yield func(Node) bool) { Node{Node: root, Path: path}.walk(yield) }
}

// walk calls yield for a value and those below it until it returns false.
func (n Node) walk(yield func(Node) bool) bool {
	if !yield(n) {
		return false
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if !(Node{Node: item, Path: n.extended("[" + strconv.Itoa(i) + "]")}).walk(yield) {
				return false
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if !(Node{Node: n.Content[i+1], Path: n.field(key.Value), Key: key}).walk(yield) {
				return false
			}
		}
	}
	return true
}

// ValueOf returns the value of a key of a mapping; nil if there is none, or if n is nil or no mapping.
func ValueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// field returns the path of a field of a value.
func (n Node) field(key string) string {
	if n.Path == "" {
		return n.extended(key)
	}
	return n.extended("." + key)
}

// cut is the end of a path that is too long.
const cut = ".…"

// extended returns the path of a value below n, truncated at [faults.PathBytes]. Otherwise a long key would cost
// its length for each value below it.
func (n Node) extended(by string) string {
	switch {
	case strings.HasSuffix(n.Path, cut):
		return n.Path
	case len(n.Path)+len(by) > faults.PathBytes:
		return n.Path + cut
	}
	return n.Path + by
}
