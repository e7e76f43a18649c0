package amconfig

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// explain says why the loader refuses a document without a word of its secrets. It hides
// them and loads the document again: what is refused then, is said; what is accepted then,
// is the fault of a hidden value, whose place is said.
//
// refused: what the loader says of the document. hidden: which scalars are secrets, by
// their path in the document and their text.
func explain(document []byte, refused error, hidden func(path, value string) bool) error {
	root, err := parseTree(document)
	if err != nil {
		return err
	}
	if root == nil {
		return errors.New("the document is empty")
	}
	var values []hiddenValue
	walkScalars(root, "", func(path string, n *yaml.Node) {
		if !isNull(n) && hidden(path, n.Value) {
			values = append(values, hiddenValue{path: path, node: n, was: *n})
		}
	})
	for i := range values {
		values[i].hide()
	}
	if err := loadTree(root); err != nil {
		return withLinesOf(refused, err)
	}
	for i := range values[:min(len(values), maxHiddenTried)] {
		values[i].show()
		if loadTree(root) != nil {
			return fmt.Errorf("%s: the value is not valid", values[i].path)
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

var lineNumber = regexp.MustCompile(`line \d+`)

// withLinesOf puts the lines of the user's document, which are no secret, into an error about
// the one that was written anew.
func withLinesOf(user, err error) error {
	lines := lineNumber.FindAllString(user.Error(), -1)
	if len(lines) != len(lineNumber.FindAllString(err.Error(), -1)) {
		return err
	}
	return errors.New(lineNumber.ReplaceAllStringFunc(err.Error(), func(string) string {
		line := lines[0]
		lines = lines[1:]
		return line
	}))
}

// maxHiddenTried bounds how often a document is loaded to find the value at fault.
const maxHiddenTried = 100

// loadTree loads a tree that has no secrets in it.
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

var hostPort = regexp.MustCompile(`^\S+:\d+$`)

// hide keeps the type of the value: what is refused for another reason stays so.
func (h *hiddenValue) hide() {
	switch h.was.ShortTag() {
	case "!!bool": // says nothing
	case "!!int", "!!float":
		h.node.Value = "1"
	default:
		h.node.Tag, h.node.Style, h.node.Value = "!!str", yaml.DoubleQuotedStyle, "hidden"
		switch {
		case strings.Contains(h.was.Value, "://"):
			h.node.Value = "https://hidden.invalid/"
		case hostPort.MatchString(h.was.Value):
			h.node.Value = "hidden.invalid:1"
		}
	}
}

// walkScalars visits all scalars but keys of maps.
func walkScalars(n *yaml.Node, path string, visit func(path string, n *yaml.Node)) {
	switch n.Kind {
	case yaml.ScalarNode:
		visit(path, n)
	case yaml.SequenceNode:
		for i, child := range n.Content {
			walkScalars(child, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			walkScalars(n.Content[i+1], join(path, n.Content[i].Value), visit)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// secretReader notes the values of the Secrets that are read.
type secretReader struct {
	assets.Reader
	values []map[string][]byte
}

// Object implements [assets.Reader].
func (r *secretReader) Object(ref assets.Ref) (assets.Object, error) {
	o, err := r.Reader.Object(ref)
	if err == nil && ref.Kind == assets.Secret {
		r.values = append(r.values, o.Values)
	}
	return o, err
}

// shortSecret is the length below which a value counts only as the whole of a scalar.
const shortSecret = 4

// hidden reports scalars that have a value of a Secret in them.
func (r *secretReader) hidden(_, scalar string) bool {
	for _, values := range r.values {
		for _, v := range values {
			secret := strings.TrimSpace(string(v))
			switch {
			case secret == "":
			case scalar == secret, strings.TrimSpace(scalar) == secret:
				return true
			case len(secret) >= shortSecret && strings.Contains(scalar, secret):
				return true
			}
		}
	}
	return false
}
