package amconfig

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/alertmanager/config"
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

// noField matches the words of the loader for an unknown field.
var noField = lazyregexp.New(`field (\S+) not found in type \S+`)

// inOneLine returns an error of the loader without line breaks and without types of Go.
func inOneLine(err error) error {
	if !strings.Contains(err.Error(), severalFaults) {
		return err
	}
	text := strings.ReplaceAll(strings.Replace(err.Error(), severalFaults, "", 1), "\n  ", "; ")
	text = wrongType.ReplaceAllStringFunc(text, func(found string) string {
		m := wrongType.FindStringSubmatch(found)
		return "got " + yamlTypes[m[1]] + " where another value belongs"
	})
	return errors.New(noField.ReplaceAllStringFunc(text, unknownField))
}

// severalFaults begins an error of the YAML library about values.
const severalFaults = "yaml: unmarshal errors:\n  "

// wrongType matches the words of the loader for a value of another type. Values of texts are hidden.
var wrongType = lazyregexp.New(`cannot unmarshal (!!map|!!seq) into \S+`)

var yamlTypes = map[string]string{"!!map": "an object", "!!seq": "a list"}

// explained adds to an error about a text the probable correction, and the place.
func explained(text []byte, err error) error {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return err
	}
	return located(doc.Content[0], hinted(doc.Content[0], err))
}

// hinted adds to an error the probable cause: a matcher that is an object, or a name that is null.
func hinted(root *yaml.Node, err error) error {
	m := lineOf.FindStringSubmatch(err.Error())
	hint := ""
	for n := range manifest.Nodes("", root) {
		switch {
		case m != nil && n.Kind == yaml.MappingNode && len(n.Content) > 0 && strconv.Itoa(n.Line) == m[1] && inMatchers.MatchString(n.Path):
			hint = fmt.Sprintf("; %s is a string: write '%s=\"…\"', the whole in quotes", n.Path, n.Content[0].Value)
		case m == nil && isNull(n.Node) && nullable.MatchString(n.Path) && hint == "" && nullFault.MatchString(err.Error()):
			err = fmt.Errorf("line %d: %s: %w", n.Line, n.Path, err)
			hint = "; null is no value in YAML: write 'null' with quotes for this name"
		}
	}
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w%s", err, hint)
}

var (
	inMatchers = lazyregexp.New(`matchers\[\d+\]$`)
	nullable   = lazyregexp.New(`\b(name|receiver)$`)
	nullFault  = lazyregexp.New(`missing name in receiver|must specify a default receiver|undefined receiver`)
)

// unknownField describes an unknown field, with a similar one that exists.
func unknownField(found string) string {
	name := noField.FindStringSubmatch(found)[1]
	if meant := manifest.Similar(name, fileKeys()); meant != "" {
		return fmt.Sprintf("unknown field %s, did you mean %s?", name, meant)
	}
	return "unknown field " + name
}

// fileKeys returns all keys of a configuration.
var fileKeys = sync.OnceValue(func() []string {
	keys := map[string]bool{}
	seen := map[reflect.Type]bool{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(t.Elem())
		case reflect.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			for f := range t.Fields() {
				if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
					keys[name] = true
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[config.Config]())
	return slices.Sorted(maps.Keys(keys))
})

// quotedValue matches the value that an error of the loader is about.
var quotedValue = lazyregexp.New(`"([^"]+)"`)

// located adds the line and the path of the value that an error quotes, if it occurs only once.
func located(root *yaml.Node, err error) error {
	m := quotedValue.FindStringSubmatch(err.Error())
	if m == nil || lineNumber.MatchString(err.Error()) {
		return err
	}
	found, at, line := 0, "", 0
	for n := range scalars(root) {
		if n.Value == m[1] {
			found, at, line = found+1, n.Path, n.Line
		}
	}
	if found != 1 {
		return err
	}
	return fmt.Errorf("line %d: %s: %w", line, at, err)
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
