package manifests

import (
	"path/filepath"
	"slices"
	"testing"
)

// The files that a kustomization changes are its resources and those of the kustomizations among
// them. Resources of other servers are not read, and circles end.
func TestKustomized(t *testing.T) {
	dir := folder(t, map[string]string{
		"prod/kustomization.yaml":   "resources: [../base, extra.yaml, 'https://example.com/a.yaml', 'github.com/x/y?ref=v1', absent.yaml]\ncomponents: [../tls]\nnamePrefix: prod-\n",
		"prod/extra.yaml":           pod("extra"),
		"base/kustomization.yml":    "bases: [../prod, ../inner]\nresources: [web.yaml, ./web.yaml]\n",
		"base/web.yaml":             pod("web"),
		"inner/kustomization.yaml":  "resources: [deep.yaml]\n",
		"inner/deep.yaml":           pod("deep"),
		"tls/kustomization.yaml":    "kind: Component\nresources: [tls.yaml]\n",
		"tls/tls.yaml":              pod("tls"),
		"broken/kustomization.yaml": "resources: {a: b}\n",
		"none/web.yaml":             pod("none"),
	})
	for name, want := range map[string][]string{
		"prod/kustomization.yaml":   {"base/web.yaml", "inner/deep.yaml", "prod/extra.yaml", "tls/tls.yaml"},
		"base/kustomization.yml":    {"base/web.yaml", "inner/deep.yaml", "prod/extra.yaml", "tls/tls.yaml"},
		"inner/kustomization.yaml":  {"inner/deep.yaml"},
		"broken/kustomization.yaml": nil,
		"none/kustomization.yaml":   nil,
	} {
		var got []string
		for _, file := range kustomized(filepath.Join(dir, name)) {
			file, err := filepath.Rel(dir, file)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(file))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s changes %q, want %q", name, got, want)
		}
	}
}
