package convert

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest/plainyaml"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// texts are the fields of rules that Prometheus reads from any scalar, while the API server needs a string.
var texts = []string{"name", "interval", "query_offset", "record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations"}

// quoteAll makes numbers and booleans strings where rules have strings, as Prometheus reads them: `severity: 1`.
func quoteAll(n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			quoteAll(item)
		}
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key, value := n.Content[i], n.Content[i+1]; slices.Contains(texts, key.Value) {
			quote(value)
		} else {
			quoteAll(value)
		}
	}
}

// quote makes a scalar, or keys and values of a mapping, strings.
func quote(n *yaml.Node) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		n.Tag = "!!str"
		if text, err := plainyaml.ToJSON([]byte(n.Value)); n.Style == 0 && (err != nil || len(text) == 0 || text[0] != '"') { // such as "on", which is a boolean for the API server only
			n.Style = yaml.DoubleQuotedStyle
		}
	case n.Kind == yaml.MappingNode:
		for _, item := range n.Content {
			quote(item)
		}
	}
}

// manifest returns the object of a rule file.
func (c *converter) manifest(from rules, spec *yaml.Node) ([]byte, error) {
	labels := maps.Clone(from.labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, c.options.Labels)
	metadata := mapping("name", scalar(c.unique(from.namespace, objectName(from.name))))
	if from.namespace != "" {
		metadata.Content = append(metadata.Content, scalar("namespace"), scalar(from.namespace))
	}
	if len(labels) > 0 {
		all := mapping()
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			all.Content = append(all.Content, scalar(name), scalar(labels[name]))
		}
		metadata.Content = append(metadata.Content, scalar("labels"), all)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := enc.Encode(mapping("apiVersion", scalar(v1.SchemeGroupVersion.String()), "kind", scalar(v1.PrometheusRuleKind), "metadata", metadata, "spec", spec))
	return out.Bytes(), err
}

// check returns the fields of a manifest that a PrometheusRule does not have, and those with values of a wrong type.
func check(text []byte) error {
	return manifest.Decode(text, new(v1.PrometheusRule))
}

// maxName is the maximum length of a name, without the number of [converter.unique].
const maxName = validation.DNS1123SubdomainMaxLength - 10

var invalidInName = lazyregexp.New(`[^a-z0-9.-]+`)

// objectName returns a name for an object that is similar to text.
func objectName(text string) string {
	name := invalidInName.ReplaceAllString(strings.ToLower(text), "-")
	name = strings.Trim(name[:min(len(name), maxName)], "-.")
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		name = strings.Trim(strings.ReplaceAll(name, ".", "-"), "-")
	}
	if name == "" {
		return "rules"
	}
	return name
}

// unique returns a name with a number if another object in the namespace has it.
func (c *converter) unique(namespace, name string) string {
	c.names[namespace+"/"+name]++
	if n := c.names[namespace+"/"+name]; n > 1 {
		return c.unique(namespace, fmt.Sprintf("%s-%d", name, n))
	}
	return name
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// mapping returns a mapping of alternating keys (string) and values (*yaml.Node).
func mapping(pairs ...any) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range pairs {
		if key, is := p.(string); is {
			p = scalar(key)
		}
		out.Content = append(out.Content, p.(*yaml.Node))
	}
	return out
}
