package workloadtest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// root is the path of the project from the package of a kind, such as controllers/prometheus.
const root = "../../.."

// sharedBlocks are types that package promconfig tests; they are the same wherever they occur.
var sharedBlocks = []reflect.Type{
	reflect.TypeFor[v1.TLSConfig](), reflect.TypeFor[v1.SafeTLSConfig](), reflect.TypeFor[v1.OAuth2](),
	reflect.TypeFor[v1.RelabelConfig](), reflect.TypeFor[v1.Authorization](), reflect.TypeFor[v1.SafeAuthorization](),
	reflect.TypeFor[v1.Sigv4](), reflect.TypeFor[v1.AzureAD](),
}

// Coverage lists where the fields of a kind are tested.
type Coverage struct {
	Specs   []reflect.Type
	Kinds   []string // kinds of the objects in golden files to check; "" for objects without a kind
	Folders []string // packages whose golden files are checked: "operator/config/promconfig"
	// Files is the pattern of golden files in a folder; empty means "testdata/*.txtar".
	Files string
	// Parts are further types by their path below the spec: "receivers".
	Parts map[string]reflect.Type
	// Elsewhere is the test of each field that golden files cannot cover, in the form "folder: test".
	Elsewhere map[string]string
	// Blocks are types with separate tests, in addition to the shared ones.
	Blocks []reflect.Type
}

// Check fails for each field without a test. With -v it logs the files that set each field.
func (c Coverage) Check(t *testing.T) {
	t.Helper()
	set := map[string][]string{}
	for _, folder := range c.Folders {
		files, err := filepath.Glob(filepath.Join(root, folder, cmp.Or(c.Files, "testdata/*.txtar")))
		if err != nil || len(files) < 20 {
			t.Fatalf("%d files of %s, %v", len(files), folder, err)
		}
		for _, file := range files {
			for _, path := range c.fieldsIn(t, file) {
				set[path] = append(set[path], filepath.Base(folder)+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"))
			}
		}
	}
	fields := map[string]bool{}
	for _, spec := range c.Specs {
		maps.Copy(fields, c.specFields(spec, "", nil))
	}
	for path, part := range c.Parts {
		maps.Copy(fields, c.specFields(part, path, nil))
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		files, test := set[field], c.Elsewhere[field]
		switch {
		case test != "" && !testExists(t, test):
			t.Errorf("spec.%s: there is no test %s", field, test)
		case test == "" && len(files) == 0:
			t.Errorf("no golden file sets spec.%s", field)
		default:
			t.Logf("| `%s` | %s %s |", field, test, strings.Join(files[:min(len(files), 3)], " "))
		}
	}
	for field := range c.Elsewhere {
		if !fields[field] {
			t.Errorf("there is no field spec.%s", field)
		}
	}
}

// fieldsIn returns the paths of the fields that are set in a golden file.
func (c Coverage) fieldsIn(t *testing.T, file string) []string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range archive.Files {
		if f.Name != "in.yaml" && f.Name != "owner.yaml" {
			continue
		}
		for doc := range strings.SplitSeq(string(f.Data), "\n---\n") {
			var object struct {
				Kind string
				Spec any
			}
			if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if slices.Contains(c.Kinds, object.Kind) {
				markPaths(seen, "", object.Spec)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// markPaths adds the dotted paths of all keys, without list indices.
func markPaths(into map[string]bool, path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			markPaths(into, path, item)
		}
	case map[string]any:
		for key, value := range v {
			inner := strings.TrimPrefix(path+"."+key, ".")
			into[inner] = true
			markPaths(into, inner, value)
		}
	}
}

// specFields returns the paths of all fields, down to types of other packages.
func (c Coverage) specFields(typ reflect.Type, prefix string, above []reflect.Type) map[string]bool {
	out := map[string]bool{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		ours := inner.Kind() == reflect.Struct && strings.Contains(inner.PkgPath(), "/monitoring/") && !slices.Contains(above, inner) && !slices.Contains(sharedBlocks, inner) && !slices.Contains(c.Blocks, inner)
		if strings.Contains(options, "inline") {
			if ours {
				maps.Copy(out, c.specFields(inner, prefix, above))
			}
			continue
		}
		path := strings.TrimPrefix(prefix+"."+name, ".")
		out[path] = true
		if ours {
			maps.Copy(out, c.specFields(inner, path, append(slices.Clone(above), inner)))
		}
	}
	return out
}

// testExists reports whether the sources contain the test "folder: test".
func testExists(t *testing.T, test string) bool {
	t.Helper()
	folder, name, _ := strings.Cut(test, ": ")
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	function := regexp.MustCompile(fmt.Sprintf(`(?m)^func %s\(`, regexp.QuoteMeta(name)))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if function.Match(text) {
			return true
		}
	}
	return false
}
