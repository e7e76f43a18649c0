package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// together is the number of items of lists and maps that are validated at once. The library
// compares each error with all previous ones, so its time is quadratic in the errors of one
// validation, and an object of a megabyte could take half an hour.
const together = 200

// node validates the values of a schema. It caches the nodes below it that were used.
type node struct {
	schema *spec.Schema
	valid  validation.SchemaValidator

	mu    sync.Mutex
	below map[string]*node // by field name
	item  *node
}

func newNode(schema *spec.Schema) *node {
	return &node{schema: schema, valid: validation.NewSchemaValidatorFromOpenAPI(schema)}
}

// field returns the node of a field, or nil if the schema does not have the field.
func (n *node) field(name string) *node {
	n.mu.Lock()
	defer n.mu.Unlock()
	if child, ok := n.below[name]; ok {
		return child
	}
	schema, ok := n.schema.Properties[name]
	if !ok {
		return nil
	}
	if n.below == nil {
		n.below = map[string]*node{}
	}
	n.below[name] = newNode(&schema)
	return n.below[name]
}

// items returns the node of the items of a list, or of the values of a map, or nil.
func (n *node) items() *node {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch s := n.schema; {
	case n.item != nil:
	case s.Items != nil && s.Items.Schema != nil:
		n.item = newNode(s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		n.item = newNode(s.AdditionalProperties.Schema)
	}
	return n.item
}

// validate returns the errors of a value, in time linear in its size: it validates up to together
// items of lists and maps at once. It stops after the validation that reaches
// [budget.DocumentFaults] errors.
func (n *node) validate(value any, together int) field.ErrorList {
	out, rest := n.part(nil, value, together)
	for len(rest) > 0 && len(out) < budget.DocumentFaults {
		last := &rest[len(rest)-1]
		path, item, ok := last.next()
		if !ok {
			rest = rest[:len(rest)-1]
			continue
		}
		found, more := last.of.part(path, item, together)
		out, rest = append(out, found...), append(rest, more...)
	}
	return out
}

// part validates a value without the items that it returns.
func (n *node) part(path *field.Path, value any, together int) (field.ErrorList, []items) {
	c := cutter{room: together}
	value = c.cut(n, path, value)
	slices.Reverse(c.rest)
	found := validation.ValidateCustomResource(path, value, n.valid)
	if path != nil {
		for _, err := range found {
			whole(path, err)
		}
	}
	return found, c.rest
}

// whole completes the path in an error message, which is relative to the part.
func whole(part *field.Path, err *field.Error) {
	if _, what, ok := strings.Cut(err.Detail, " in body "); ok {
		err.Detail = err.Field + " in body " + what
	} else if name, what, ok := strings.Cut(strings.TrimPrefix(err.Detail, `"`), `" must validate `); ok { // a choice of schemas: it has no field
		if name != "" && name[0] != '[' {
			name = "." + name
		}
		err.Field, err.Detail = (*field.Path)(nil).String(), fmt.Sprintf(`"%s%s" must validate %s`, part, name, what)
	}
}

// items are the items of a list or map that are not validated yet.
type items struct {
	of   *node
	path *field.Path // of the list or map
	list []any
	from int // index of the first one in the whole list
	keys []string
	all  map[string]any
}

func (i *items) next() (path *field.Path, item any, ok bool) {
	switch {
	case len(i.list) > 0:
		path, item = i.path.Index(i.from), i.list[0]
		i.list, i.from = i.list[1:], i.from+1
	case len(i.keys) > 0:
		path, item = i.path.Child(i.keys[0]), i.all[i.keys[0]]
		i.keys = i.keys[1:]
	default:
		return nil, nil, false
	}
	return path, item, true
}

// cutter removes items from a value that has too many for one validation.
type cutter struct {
	room int
	rest []items
}

// cut returns a value without the removed items. Each list and map keeps its required minimum, and
// one more than its maximum.
func (c *cutter) cut(n *node, path *field.Path, value any) any {
	switch v := value.(type) {
	case []any:
		item := n.items()
		if item == nil {
			return v
		}
		kept := c.kept(len(v), n.schema.MinItems, n.schema.MaxItems)
		out := make([]any, kept)
		for i := range kept {
			out[i] = c.cut(item, path.Index(i), v[i])
		}
		if kept < len(v) {
			c.rest = append(c.rest, items{of: item, path: path, list: v[kept:], from: kept})
		}
		return out
	case map[string]any:
		out := make(map[string]any)
		if item := n.items(); item != nil {
			keys := slices.Sorted(maps.Keys(v))
			kept := c.kept(len(v), n.schema.MinProperties, n.schema.MaxProperties)
			for _, key := range keys[:kept] {
				out[key] = c.cut(item, path.Child(key), v[key])
			}
			if kept < len(v) {
				c.rest = append(c.rest, items{of: item, path: path, keys: keys[kept:], all: v})
			}
			return out
		}
		for key, child := range v {
			if below := n.field(key); below != nil {
				child = c.cut(below, path.Child(key), child)
			}
			out[key] = child
		}
		return out
	}
	return value
}

// kept reserves room for items of a list, and returns how many stay in the value.
func (c *cutter) kept(n int, least, most *int64) int {
	must := int64(1)
	if least != nil {
		must = max(must, *least)
	}
	if most != nil {
		must = max(must, *most+1)
	}
	kept := int(min(int64(n), max(must, int64(c.room))))
	c.room -= kept
	return kept
}
