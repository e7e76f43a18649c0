package convert

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// Options are the metadata of the objects.
type Options struct {
	// Namespace (optional) is the namespace of objects for files, and for ConfigMaps that do not set one.
	Namespace string
	// Labels are added to those of the ConfigMap.
	Labels map[string]string
}

// Made is a PrometheusRule.
type Made struct {
	// Source is the file, or the ConfigMap and its key: `ConfigMap demo/rules, data["a.yml"]`.
	Source string
	// YAML is the manifest. It is nil after an error.
	YAML []byte
	// Err is why there is no manifest: the text is not YAML, or has a field that rules do not have.
	Err error
}

// Rules returns the PrometheusRules for the rules in a file: of its documents that are rule files, and of values of
// ConfigMaps, also of those in a List. It is empty if there are none.
func Rules(file string, text []byte, o Options) []Made {
	c := converter{options: o, names: map[string]int{}}
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	from := rules{name: name, namespace: o.Namespace, source: file}
	for doc := range documentsOf(text) {
		switch {
		case doc.err != nil:
			c.made = append(c.made, Made{Source: file, Err: doc.err})
		case manifest.ValueOf(doc.root, "kind") != nil:
			c.object(file, doc.root)
		default:
			c.add(from, doc.root)
		}
	}
	return c.made
}

// rules is the origin of the text of rules.
type rules struct {
	name, namespace, source string
	labels                  map[string]string
}

// converter converts the documents of a file.
type converter struct {
	options Options
	names   map[string]int // number of objects by namespace and name
	made    []Made
}

// document is a document of a YAML stream, or why it cannot be read.
type document struct {
	text []byte
	root *yaml.Node // not nil without an error
	err  error
}

// maxDocument is the maximum size of a document in bytes: parsed, short rules take 270 times as much memory. No API server stores a
// PrometheusRule of that size.
const maxDocument = 8 << 20

// documentsOf iterates over the documents of a text that are not empty, up to the first error.
func documentsOf(text []byte) iter.Seq[document] {
	return func(yield func(document) bool) {
		in := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		var aliases manifest.Aliases
		for {
			doc, err := in.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			var node yaml.Node
			if err == nil && len(doc) > maxDocument {
				err = fmt.Errorf("a document has %d MiB, more than %d: divide it; an object of the cluster has at most 1.5", len(doc)>>20, maxDocument>>20)
			}
			if err == nil {
				err = aliases.Check(doc)
			}
			if err == nil {
				err = yaml.Unmarshal(doc, &node)
			}
			switch {
			case err != nil:
				yield(document{text: doc, err: err})
				return
			case len(node.Content) > 0 && !yield(document{text: doc, root: node.Content[0]}):
				return
			}
		}
	}
}

// value converts the rules in a value of a ConfigMap, which may be any text.
func (c *converter) value(from rules, text []byte) {
	for doc := range documentsOf(text) {
		switch {
		case doc.err == nil:
			c.add(from, doc.root)
		case bytes.Contains(doc.text, []byte("groups:")):
			c.made = append(c.made, Made{Source: from.source, Err: doc.err})
		}
	}
}

// object converts the values of a ConfigMap, or of the ConfigMaps in a List.
func (c *converter) object(file string, o *yaml.Node) {
	if items := manifest.ValueOf(o, "items"); items != nil {
		for _, item := range items.Content {
			c.object(file, item)
		}
		return
	}
	kind := manifest.ValueOf(o, "kind")
	if kind == nil || kind.Value != "ConfigMap" {
		return
	}
	var m struct {
		Metadata struct {
			Name, Namespace string
			Labels          map[string]string
		}
		Data map[string]string
	}
	if err := o.Decode(&m); err != nil {
		c.made = append(c.made, Made{Source: fmt.Sprintf("%s, line %d", file, o.Line), Err: err})
		return
	}
	namespace := m.Metadata.Namespace
	if namespace == "" {
		namespace = c.options.Namespace
	}
	for _, key := range slices.Sorted(maps.Keys(m.Data)) {
		c.value(rules{
			name: m.Metadata.Name + "-" + strings.TrimSuffix(key, filepath.Ext(key)), namespace: namespace, labels: m.Metadata.Labels,
			source: fmt.Sprintf("ConfigMap %s, data[%q]", strings.TrimPrefix(namespace+"/"+m.Metadata.Name, "/"), key),
		}, []byte(m.Data[key]))
	}
}

// add makes the object for a rule file. Other documents are ignored.
func (c *converter) add(from rules, spec *yaml.Node) {
	if manifest.ValueOf(spec, "groups") == nil {
		return
	}
	quoteAll(spec)
	text, err := c.manifest(from, spec)
	if err == nil {
		err = check(text)
	}
	if err != nil {
		text = nil
	}
	c.made = append(c.made, Made{Source: from.source, YAML: text, Err: err})
}
