package amconfig

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// config-reloader substitutes $(NAME) with environment variables of its container. Tenants
// must not read these, and the substitution could turn a name into that of another receiver.
// Therefore the two characters are written as an escape that YAML decodes to the original.
var (
	variableStart = []byte("$(")
	escapedStart  = []byte(`\x24(`)
)

// literalVariables escapes variables in the items of all sections.
func literalVariables(sections map[Section][]byte) error {
	for section, text := range sections {
		if !bytes.Contains(text, variableStart) {
			continue
		}
		text, err := literal(text)
		if err != nil {
			return faults.At(string(section), err)
		}
		if section == Routes {
			text = indent(text)
		}
		sections[section] = text
	}
	return nil
}

// literal encodes a list of items with escaped variables, in double quotes.
func literal(items []byte) ([]byte, error) {
	root, err := parseTree(items)
	if err != nil {
		return nil, err
	}
	quoteVariables(root)
	text, err := encodeNode(root)
	return bytes.ReplaceAll(text, variableStart, escapedStart), err
}

func quoteVariables(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && bytes.Contains([]byte(n.Value), variableStart) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range n.Content {
		quoteVariables(child)
	}
}
