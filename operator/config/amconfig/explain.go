package amconfig

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
)

// explain returns why the loader rejects a document, without its secrets. It hides the
// secrets and loads the document again. If it is still rejected, that error is returned. If
// it is accepted, a hidden value is the cause, and the error contains its path.
//
// refused: the error of the loader. hidden: reports whether a scalar is secret, by its path
// in the document and its text.
func explain(document []byte, refused error, hidden func(path, value string) bool) error {
	root, err := parseTree(document)
	if err != nil {
		return err
	}
	if root == nil {
		return errors.New("the document is empty")
	}
	var values []hiddenValue
	for n := range scalars(root) {
		if !isNull(n.Node) && hidden(n.Path, n.Value) {
			values = append(values, hiddenValue{path: n.Path, node: n.Node, was: *n.Node})
		}
	}
	for i := range values {
		values[i].hide()
	}
	if err := loadTree(root); err != nil {
		return withLinesOf(refused, err)
	}
	for i := range values[:min(len(values), maxHiddenTried)] {
		values[i].show()
		if loadTree(root) != nil {
			return faults.At(values[i].path, errors.New("the value is not valid"))
		}
		values[i].hide()
	}
	for i := range values {
		values[i].show()
	}
	if loadTree(root) == nil { // aliases and merge keys are replaced in it
		return fmt.Errorf("%w (by a merge key, or an alias)", yamlError(refused))
	}
	return errors.New("a value that is not shown here is not valid")
}

var lineNumber = lazyregexp.New(`line \d+`)

// withLinesOf replaces the line numbers in an error about the re-encoded document with those
// of the user's document, which are not secret.
func withLinesOf(user, err error) error {
	lines := lineNumber.Get().FindAllString(user.Error(), -1)
	if len(lines) != len(lineNumber.Get().FindAllString(err.Error(), -1)) {
		return err
	}
	return errors.New(lineNumber.ReplaceAllStringFunc(err.Error(), func(string) string {
		line := lines[0]
		lines = lines[1:]
		return line
	}))
}

// placed returns an error about the syntax of a text with the line of the fault.
func placed(text []byte, err error) error {
	if !strings.HasPrefix(err.Error(), "yaml: line ") {
		return err
	}
	line := fmt.Sprintf("line %d", manifest.SyntaxLine(text, err))
	return errors.New(strings.Replace(err.Error(), lineNumber.Get().FindString(err.Error()), line, 1))
}

// maxHiddenTried is the maximum number of loads to find the invalid value.
const maxHiddenTried = 100

// loadTree loads a tree that contains no secrets.
func loadTree(root *yaml.Node) error {
	text, err := encodeNode(root)
	if err != nil {
		return err
	}
	return load(text)
}

// hiddenValue is a scalar that must not be shown.
type hiddenValue struct {
	path string
	node *yaml.Node
	was  yaml.Node
}

func (h *hiddenValue) show() { *h.node = h.was }

// hide replaces the value with one of the same type, so that errors with other causes remain.
func (h *hiddenValue) hide() {
	switch h.was.ShortTag() {
	case "!!bool": // reveals nothing
	case "!!int", "!!float":
		h.node.Value = "1"
	default:
		h.node.Tag, h.node.Style, h.node.Value = "!!str", yaml.DoubleQuotedStyle, redact.Placeholder(h.was.Value)
	}
}

// scalars yields all scalars below a node except map keys.
func scalars(root *yaml.Node) iter.Seq[manifest.Node] {
	return func(yield func(manifest.Node) bool) {
		for n := range manifest.Nodes("", root) {
			if n.Kind == yaml.ScalarNode && !yield(n) {
				return
			}
		}
	}
}
