package amconfig

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// config-reloader replaces $(NAME) by environment variables of its container, which are not
// the tenants' to read, and a name could become that of another receiver by it. The two
// characters are therefore written as an escape that YAML turns back into them.
var (
	variableStart = []byte("$(")
	escapedStart  = []byte(`\x24(`)
)

// literalVariables makes the items of all sections free of variables.
func literalVariables(sections map[Section][]byte) error {
	for section, text := range sections {
		if !bytes.Contains(text, variableStart) {
			continue
		}
		text, err := literal(text)
		if err != nil {
			return fmt.Errorf("%s: %w", section, err)
		}
		if section == Routes {
			text = indent(text)
		}
		sections[section] = text
	}
	return nil
}

// literal writes a list of items with escapes in place of variables, in double quotes.
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
