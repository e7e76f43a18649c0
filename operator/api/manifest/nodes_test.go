package manifest_test

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

func TestNodes(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("a: &x\n- b: 1\n- 2\nc: *x\nd:\n"), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for n := range manifest.Nodes("", doc.Content[0]) {
		key := ""
		if n.Key != nil {
			key = n.Key.Value
		}
		got = append(got, key+" at "+n.Path+" = "+n.Value)
	}
	if want := []string{" at  = ", "a at a = ", " at a[0] = ", "b at a[0].b = 1", " at a[1] = 2", "c at c = x", "d at d = "}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for n := range manifest.Nodes("root", doc.Content[0]) {
		if n.Path == "root.a[0]" {
			break // the walk ends
		}
	}
}

// A long key does not cost its length for each value below it.
func TestLongPaths(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("? "+strings.Repeat("k", 100_000)+"\n: ["+strings.Repeat("a,", 1000)+"{b: c}]\n"), &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	for at := range manifest.Nodes("", doc.Content[0]) {
		if n++; len(at.Path) > 2000 {
			t.Fatalf("a path of %d bytes", len(at.Path))
		}
	}
	if n != 1004 {
		t.Errorf("%d values", n)
	}
}
