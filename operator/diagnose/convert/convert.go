package convert

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
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
	// Namespace is that of objects for files, and for ConfigMaps without a namespace. It may be empty.
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
	c.documents(rules{name: name, namespace: o.Namespace, source: file}, text, true)
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

// documents converts the documents of a text. objects is whether they may be Kubernetes objects.
func (c *converter) documents(from rules, text []byte, objects bool) {
	in := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := in.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		var node yaml.Node
		if err == nil {
			err = new(manifest.Aliases).Check(doc)
		}
		if err == nil {
			err = yaml.Unmarshal(doc, &node)
		}
		switch {
		case err != nil && !objects && !bytes.Contains(doc, []byte("groups:")):
			return // a value that is not a rule file
		case err != nil:
			c.made = append(c.made, Made{Source: from.source, Err: err})
			return
		case len(node.Content) == 0:
		case objects && manifest.ValueOf(node.Content[0], "kind") != nil:
			c.object(from.source, node.Content[0])
		case manifest.ValueOf(node.Content[0], "groups") != nil:
			c.add(from, node.Content[0])
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
		c.documents(rules{
			name: m.Metadata.Name + "-" + strings.TrimSuffix(key, filepath.Ext(key)), namespace: namespace, labels: m.Metadata.Labels,
			source: fmt.Sprintf("ConfigMap %s, data[%q]", strings.TrimPrefix(namespace+"/"+m.Metadata.Name, "/"), key),
		}, []byte(m.Data[key]), false)
	}
}

// add makes the object for a rule file.
func (c *converter) add(from rules, spec *yaml.Node) {
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
