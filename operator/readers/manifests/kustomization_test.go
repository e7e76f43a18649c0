package manifests

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
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
		var changed kustomized
		changed.follow(filepath.Join(dir, name))
		for _, file := range slices.Sorted(maps.Keys(changed.files)) {
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

// A folder of others may hold a kustomization that is a pipe without a writer, or a link to a device without an end: it is
// not read, and its fault is reported beside the manifests.
func TestKustomizationWithoutEnd(t *testing.T) {
	dir := folder(t, map[string]string{"a.yaml": pod("web"), "b/web.yaml": pod("other")})
	if err := syscall.Mkfifo(filepath.Join(dir, "kustomization.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "b", "kustomization.yml")); err != nil {
		t.Fatal(err)
	}
	o, faults := LoadAll([]string{dir}, kinds())
	if o.Len() != 2 || len(faults) != 2 {
		t.Errorf("%d objects and faults %v", o.Len(), faults)
	}
}

// A kustomization of many megabytes is not decoded.
func TestLongKustomization(t *testing.T) {
	dir := folder(t, map[string]string{"kustomization.yaml": "patches:\n" + strings.Repeat("- {path: a.yaml}\n", maxKustomizationBytes/10)})
	if k := readKustomization(filepath.Join(dir, "kustomization.yaml")); k != nil {
		t.Errorf("%d bytes", len(k))
	}
}

// Kustomizations that all name each other are each followed once.
func TestKustomizationsOfEachOther(t *testing.T) {
	const n = 60
	files := map[string]string{"a.yaml": pod("web")}
	for i := range n {
		files[fmt.Sprintf("k%d/kustomization.yaml", i)] = "namespace: a\nresources:\n" + budgettest.Numbered(n, "- ../k%d\n")
	}
	dir := folder(t, files)
	budgettest.AtMost(t, "kustomizations that name each other", 30<<20, func() { LoadAll([]string{dir}, kinds()) })
}
