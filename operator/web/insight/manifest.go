package insight

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

const (
	// maxManifest is the maximum length of a manifest in a response.
	maxManifest = 128 << 10
	// manifestJSON is how many times as long as a manifest its JSON can be: quotes and brackets.
	manifestJSON = 3
)

// Manifest implements [Answers].
func (c *Cluster) Manifest(ctx context.Context, o Object, masked bool) (string, error) {
	object, err := c.Reader.Get(ctx, o.GroupVersionResource(), o.NamespacedName)
	if err != nil {
		return "", err
	}
	if capacity.IsStub(object) {
		return "", tooLong(o)
	}
	spec, err := specIn(object)
	switch {
	case err != nil:
		return "", err
	case len(spec) > manifestJSON*maxManifest: // YAML takes several times as long to write as JSON
		return "", tooLong(o)
	}
	text, err := manifestOf(o.Row, object, spec)
	switch {
	case err != nil:
		return "", err
	case len(text) > maxManifest:
		return "", tooLong(o)
	case !masked:
		return text, nil
	}
	release, err := c.reserve(ctx, treeWeight*int64(len(text)))
	if err != nil {
		return "", err
	}
	defer release()
	tree := redact.Tree{Paths: redact.LongPaths, Fields: true}
	if o.Row == catalog.AlertmanagerConfig {
		tree.Paths = redact.AllPaths
	}
	return tree.Text(text)
}

func tooLong(o Object) error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the manifest of %s is too long to be shown here", o.Ref()))
}

// ManifestOf returns the manifest of an object as one would apply it: without status and without
// metadata that the API server sets.
func ManifestOf(row *catalog.Row, object readers.Object) (string, error) {
	spec, err := specIn(object)
	if err != nil {
		return "", err
	}
	return manifestOf(row, object, spec)
}

// specIn returns the field spec of an object as JSON.
func specIn(object readers.Object) (json.RawMessage, error) {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	if err := to.Encode(object); err != nil {
		return nil, err
	}
	var out struct {
		Spec json.RawMessage `json:"spec"`
	}
	err := json.Unmarshal(text.Bytes(), &out)
	return out.Spec, err
}

func manifestOf(row *catalog.Row, object readers.Object, spec json.RawMessage) (string, error) {
	metadata := map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
	if l := object.GetLabels(); len(l) > 0 {
		metadata["labels"] = l
	}
	out, err := yaml.Marshal(map[string]any{"apiVersion": row.GroupVersion().String(), "kind": row.Kind, "metadata": metadata, "spec": spec})
	return string(out), err
}

// LineOf returns the line, from 1, of the field of a manifest with which a message begins, or of its
// nearest parent that exists; 0 if the message names none. The path may begin below spec:
// "endpoints[0]: basicAuth: username: ...".
func LineOf(manifest, message string) int {
	var doc yamlv3.Node
	if err := yamlv3.Unmarshal([]byte(manifest), &doc); err != nil || len(doc.Content) == 0 {
		return 0
	}
	at, line := doc.Content[0], 0
	name, rest := field(message)
	if _, value := pair(at, name); value == nil {
		_, at = pair(at, "spec")
	}
	for at != nil && name != "" {
		key, value := pair(at, name)
		if value == nil {
			break
		}
		at, line = value, key.Line
		for {
			var i int
			if n, _ := fmt.Sscanf(rest, "[%d]", &i); n == 0 || at.Kind != yamlv3.SequenceNode || i < 0 || i >= len(at.Content) {
				break
			}
			at = at.Content[i]
			line = at.Line
			rest = rest[strings.IndexByte(rest, ']')+1:]
		}
		switch {
		case len(rest) > 1 && rest[0] == '.':
			name, rest = field(rest[1:])
		case len(rest) > 2 && rest[:2] == ": ":
			name, rest = field(rest[2:])
		default:
			name = ""
		}
	}
	return line
}

// field splits the name of a field from the beginning of a text; empty for a word of a sentence.
func field(text string) (name, rest string) {
	for i, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
		case r == '.', r == '[', r == ':':
			return text[:i], text[i:]
		default:
			return "", text
		}
	}
	return text, ""
}

// pair returns the key and the value of a field; nil if there is none.
func pair(n *yamlv3.Node, name string) (key, value *yamlv3.Node) {
	for i := 0; n != nil && n.Kind == yamlv3.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}
