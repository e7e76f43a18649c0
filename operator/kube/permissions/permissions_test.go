package permissions

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// granted returns the grants of all roles of one kind in a manifest below deploy.
func granted(t *testing.T, file, kind string) (out []Grant) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range strings.Split(string(text), "\n---\n") {
		var role struct {
			Kind  string
			Rules []rbacv1.PolicyRule
		}
		if err := yaml.Unmarshal([]byte(doc), &role); err != nil {
			t.Fatal(err)
		}
		if role.Kind == kind {
			out = append(out, Grants(role.Rules)...)
		}
	}
	return out
}

// The manifests in deploy grant exactly the permissions of the features.
func TestManifests(t *testing.T) {
	for _, tc := range []struct {
		file, kind string
		of         func(Feature) bool
	}{
		{Base, "ClusterRole", func(f Feature) bool { return f.File == Base }},
		{kubeletManifest, "ClusterRole", func(f Feature) bool { return f.File == kubeletManifest && f.Place == Cluster }},
		{kubeletManifest, "Role", func(f Feature) bool { return f.File == kubeletManifest && f.Place == Kubelet }},
		{leaderManifest, "Role", func(f Feature) bool { return f.File == leaderManifest }},
		{certsManifest, "ClusterRole", func(f Feature) bool { return f.File == certsManifest && f.Place == Cluster }},
		{certsManifest, "Role", func(f Feature) bool { return f.File == certsManifest && f.Place == Own }},
		{targetsManifest, "ClusterRole", func(f Feature) bool { return f.File == targetsManifest }},
		{watchManifest, "ClusterRole", func(f Feature) bool { return f.Name == watching.Name }},
	} {
		want := Grants(Rules(tc.of))
		if diff := gocmp.Diff(want, granted(t, tc.file, tc.kind)); diff != "" || len(want) == 0 {
			t.Errorf("deploy/%s, %s (-features +manifest):\n%s", tc.file, tc.kind, diff)
		}
	}
}

// Each permission belongs to one feature, and feature names are unique.
func TestFeaturesAreApart(t *testing.T) {
	type at struct {
		Grant
		place Place
		file  string
	}
	seen, names := map[at]string{}, map[string]bool{}
	for _, f := range features() {
		if names[f.Name] || f.Cost == "" || f.File == "" || f.Place == "" {
			t.Errorf("feature %q is there twice, or incomplete", f.Name)
		}
		names[f.Name] = true
		for _, g := range Grants(f.Rules) {
			if other, is := seen[at{g, f.Place, f.File}]; is {
				t.Errorf("%s is for %q and for %q", g, other, f.Name)
			}
			seen[at{g, f.Place, f.File}] = f.Name
		}
	}
}

// docs/permissions.md contains every row of the table.
func TestDocumentedFeatures(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "permissions.md"))
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(table()) {
		if !slices.Contains(strings.SplitAfter(string(page), "\n"), row) {
			t.Errorf("docs/permissions.md lacks the row\n%s", row)
		}
	}
}

// The table of the discovery service's permissions has exactly what its manifest grants.
func TestDocumentedDiscovery(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "central-discovery-service.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| permissions | where | for |\n")
	documented := map[string][]string{}
	name := regexp.MustCompile("`([^`]+)`")
	for row := range strings.Lines(table) {
		if !strings.HasPrefix(row, "|") {
			break
		}
		cells := strings.Split(row, "|")
		if len(cells) != 5 || !strings.Contains(row, "`") {
			continue
		}
		for _, part := range strings.Split(cells[1], ";") {
			verbs, _, _ := strings.Cut(part, "`")
			for _, of := range name.FindAllStringSubmatch(part, -1) {
				for _, verb := range strings.FieldsFunc(strings.TrimSuffix(strings.TrimSpace(verbs), "the one named"), func(r rune) bool { return r == ',' || r == ' ' }) {
					documented[strings.TrimSpace(cells[2])] = append(documented[strings.TrimSpace(cells[2])], verb+" "+of[1])
				}
			}
		}
	}
	want := map[string][]string{}
	for kind, where := range map[string]string{"ClusterRole": "cluster", "Role": "own namespace"} {
		for _, g := range granted(t, "components/central-discovery/rbac.yaml", kind) {
			want[where] = append(want[where], g.Verb+" "+cmp.Or(g.Name, g.Resource))
		}
	}
	for _, all := range []map[string][]string{documented, want} {
		for _, of := range all {
			slices.Sort(of)
		}
	}
	if diff := gocmp.Diff(want, documented); diff != "" || len(want) != 2 {
		t.Errorf("docs/central-discovery-service.md (-manifest +table):\n%s", diff)
	}
}
