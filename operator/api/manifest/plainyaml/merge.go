package plainyaml

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
	library "sigs.k8s.io/yaml"
)

// strict converts a document with the library. A key may be there twice in a mapping if it is written once: the other
// one is from a merge (<<: *anchor), of which kubectl takes the later one, too.
func strict(document []byte) ([]byte, error) {
	out, err := library.YAMLToJSONStrict(document)
	if err == nil || !bytes.Contains(document, []byte("<<")) || !strings.Contains(err.Error(), "already set in map") {
		return out, err
	}
	var root yaml.Node
	if yaml.Unmarshal(document, &root) != nil || writtenTwice(&root) {
		return nil, err
	}
	return library.YAMLToJSON(document)
}

// writtenTwice reports whether a mapping has the same key twice, without those that it merges. It does not follow
// aliases, whose anchors are in the document.
func writtenTwice(n *yaml.Node) bool {
	keys := map[string]bool{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if keys[c.Value] {
				return true
			}
			keys[c.Value] = true
			continue
		}
		if writtenTwice(c) {
			return true
		}
	}
	return false
}
