package api_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// ours are the fields that the published surface does not have, including their
// subfields. Any other additional field is an error.
var ours = []string{
	"ScrapeConfig/v1alpha1\tspec.awsSDConfigs",
	"ScrapeConfig/v1alpha1\tspec.marathonSDConfigs",
	"ScrapeConfig/v1alpha1\tspec.nerveSDConfigs",
	"ScrapeConfig/v1alpha1\tspec.outscaleSDConfigs",
	"ScrapeConfig/v1alpha1\tspec.serversetSDConfigs",
	"ScrapeConfig/v1alpha1\tspec.stackitSDConfigs",
	"ScrapeConfig/v1alpha1\tspec.tritonSDConfigs",
	"ScrapeConfig/v1alpha1\tspec.uyuniSDConfigs",
	"ScrapeConfig/v1alpha1\tspec.vultrSDConfigs",
}

// TestSurface compares every field of the generated CRDs with the published surface of
// the API group: name, type, optionality, defaults and validation.
func TestSurface(t *testing.T) {
	want := readSurface(t, sharedFile(t, "api/surface-flat.tsv"))
	got := map[string]string{}
	for _, crd := range readCRDs(t, "crds-full") {
		kind := object(crd, "spec", "names")["kind"]
		for _, v := range object(crd, "spec")["versions"].([]any) {
			for path, line := range flatten(v.(schema)) {
				got[fmt.Sprintf("%s/%s\t%s", kind, v.(schema)["name"], path)] = line
			}
		}
	}

	equal, extra := 0, 0
	for _, path := range slices.Sorted(maps.Keys(want)) {
		switch line, ok := got[path]; {
		case !ok:
			t.Errorf("missing    %s  %s", path, want[path])
		case line != want[path]:
			t.Errorf("different  %s\n  got  %s\n  want %s", path, line, want[path])
		default:
			equal++
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[path]; ok {
			continue
		}
		if !slices.ContainsFunc(ours, func(field string) bool { return path == field || strings.HasPrefix(path, field+"[]") }) {
			t.Errorf("extra      %s  %s", path, got[path])
			continue
		}
		extra++
	}
	for _, field := range ours {
		if _, ok := got[field]; !ok {
			t.Errorf("missing    %s, a field of ours", field)
		}
	}
	t.Logf("%d of %d paths equal, %d more are ours", equal, len(want), extra)
}

// TestSets compares the two folders: the one for a plain `kubectl apply` has the same
// fields, no descriptions, and only the stored version of AlertmanagerConfig.
func TestSets(t *testing.T) {
	full := map[string]map[string]string{}
	for _, crd := range readCRDs(t, "crds-full") {
		for _, v := range object(crd, "spec")["versions"].([]any) {
			full[fmt.Sprint(object(crd, "metadata")["name"], " ", v.(schema)["name"])] = flatten(v.(schema))
		}
	}
	standard := readCRDs(t, "crds")
	for _, crd := range standard {
		name := object(crd, "metadata")["name"]
		versions := object(crd, "spec")["versions"].([]any)
		if len(versions) != 1 {
			t.Errorf("%s: %d versions, want only the stored one", name, len(versions))
		}
		for _, v := range versions {
			if v.(schema)["storage"] != true {
				t.Errorf("%s: version %s is not the stored one", name, v.(schema)["name"])
			}
			id := fmt.Sprint(name, " ", v.(schema)["name"])
			if !maps.Equal(flatten(v.(schema)), full[id]) {
				t.Errorf("%s: fields differ between the two folders", id)
			}
			if text := spacedJSON(v.(schema)["schema"]); strings.Contains(text, `"description": "`) {
				t.Errorf("%s: has descriptions", id)
			}
		}
	}
	if len(standard) != 10 {
		t.Errorf("%d definitions, want 10", len(standard))
	}
}

// readCRDs decodes the CRDs of a folder below deploy/.
func readCRDs(t *testing.T, folder string) []schema {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../../deploy", folder, "monitoring.coreos.com_*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out []schema
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		crd := schema{}
		if err := yaml.Unmarshal(raw, &crd); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, crd)
	}
	return out
}

// readSurface parses lines of the form "Kind/version<TAB>path type facets".
func readSurface(t *testing.T, name string) map[string]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		path, rest, _ := strings.Cut(lines.Text(), "  ")
		out[path] = rest
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// sharedFile returns the path of a file of the reference material next to the repository.
// It skips the test if there is none.
func sharedFile(t *testing.T, name string) string {
	t.Helper()
	file, ok := findShared(name)
	if !ok {
		t.Skipf("no reference material %s above the module; set FIREKEEPER_SHARED", name)
	}
	return file
}

func findShared(name string) (string, bool) {
	if dir := os.Getenv("FIREKEEPER_SHARED"); dir != "" {
		return filepath.Join(dir, name), true
	}
	dir, err := os.Getwd()
	for err == nil {
		file := filepath.Join(dir, "shared", name)
		if _, err := os.Stat(file); err == nil {
			return file, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return "", false
}
