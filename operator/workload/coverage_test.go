package workload

import (
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
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// testedElsewhere names the test of each field that no golden file of an owner
// can show: "folder: test".
var testedElsewhere = map[string]string{
	"paused":                             "cmd/integration: TestPausedOwnerIsLeftAlone",
	"prometheusRulesExcludedFromEnforce": "operator/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleName":      "operator/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleNamespace": "operator/rules: TestGolden",
	"shardRetentionPolicy":                             "operator/prometheus: TestSurplusShards",
	"shardRetentionPolicy.whenScaled":                  "operator/prometheus: TestSurplusShards",
	"shardRetentionPolicy.retain":                      "operator/prometheus: TestSurplusShards",
	"shardRetentionPolicy.retain.retentionPeriod":      "operator/prometheus: TestSurplusShards",
	"allowOverlappingBlocks":                           "operator/workload: TestArgumentGates",
	"serviceMonitorSelector":                           "operator/prometheus: TestEachSelectorIsForItsKind",
	"serviceMonitorNamespaceSelector":                  "operator/prometheus: TestEachSelectorIsForItsKind",
	"podMonitorSelector":                               "operator/prometheus: TestEachSelectorIsForItsKind",
	"podMonitorNamespaceSelector":                      "operator/prometheus: TestEachSelectorIsForItsKind",
	"probeSelector":                                    "operator/prometheus: TestEachSelectorIsForItsKind",
	"probeNamespaceSelector":                           "operator/prometheus: TestEachSelectorIsForItsKind",
	"scrapeConfigSelector":                             "operator/prometheus: TestEachSelectorIsForItsKind",
	"scrapeConfigNamespaceSelector":                    "operator/prometheus: TestEachSelectorIsForItsKind",
	"ruleSelector":                                     "operator/prometheus: TestEachSelectorIsForItsKind",
	"ruleNamespaceSelector":                            "operator/prometheus: TestEachSelectorIsForItsKind",
}

// sharedBlocks are tested for themselves in package promconfig; they are the same
// wherever they occur.
var sharedBlocks = []reflect.Type{
	reflect.TypeFor[v1.TLSConfig](), reflect.TypeFor[v1.SafeTLSConfig](), reflect.TypeFor[v1.OAuth2](),
	reflect.TypeFor[v1.RelabelConfig](), reflect.TypeFor[v1.Authorization](), reflect.TypeFor[v1.SafeAuthorization](),
	reflect.TypeFor[v1.Sigv4](), reflect.TypeFor[v1.AzureAD](),
}

// TestEveryFieldHasATest: each field of a Prometheus and of a PrometheusAgent is
// set in a golden file of the pods or of the configuration, or is named above.
// With -v it prints which files set each field.
func TestEveryFieldHasATest(t *testing.T) {
	set := map[string][]string{}
	for _, folder := range []string{"workload", "promconfig"} {
		files, err := filepath.Glob("../" + folder + "/testdata/*.txtar")
		if err != nil || len(files) < 40 {
			t.Fatalf("%d files of %s, %v", len(files), folder, err)
		}
		for _, file := range files {
			for _, path := range ownerFields(t, file) {
				set[path] = append(set[path], folder+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"))
			}
		}
	}
	fields := specFields(reflect.TypeFor[v1.PrometheusSpec](), "", nil)
	maps.Copy(fields, specFields(reflect.TypeFor[v1alpha1.PrometheusAgentSpec](), "", nil))
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		files, test := set[field], testedElsewhere[field]
		switch {
		case test != "" && !testExists(t, test):
			t.Errorf("spec.%s: there is no test %s", field, test)
		case test == "" && len(files) == 0:
			t.Errorf("no golden file sets spec.%s", field)
		default:
			t.Logf("| `%s` | %s %s |", field, test, strings.Join(files[:min(len(files), 3)], " "))
		}
	}
	for field := range testedElsewhere {
		if !fields[field] {
			t.Errorf("there is no field spec.%s", field)
		}
	}
}

// ownerFields are the paths of the fields that a golden file's owner sets.
func ownerFields(t *testing.T, file string) []string {
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
			if k := object.Kind; k == "" || strings.HasPrefix(k, "Prometheus") { // not the monitors
				markPaths(seen, "", object.Spec)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// markPaths enters the dotted paths of all keys; lists do not count.
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

// specFields are the paths of all fields, down to types that are not ours.
func specFields(typ reflect.Type, prefix string, above []reflect.Type) map[string]bool {
	out := map[string]bool{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		ours := inner.Kind() == reflect.Struct && strings.Contains(inner.PkgPath(), "/monitoring/") && !slices.Contains(above, inner) && !slices.Contains(sharedBlocks, inner)
		if strings.Contains(options, "inline") {
			if ours {
				maps.Copy(out, specFields(inner, prefix, above))
			}
			continue
		}
		path := strings.TrimPrefix(prefix+"."+name, ".")
		out[path] = true
		if ours {
			maps.Copy(out, specFields(inner, path, append(slices.Clone(above), inner)))
		}
	}
	return out
}

// testExists looks for "folder: test" in the sources.
func testExists(t *testing.T, test string) bool {
	t.Helper()
	folder, name, _ := strings.Cut(test, ": ")
	files, err := filepath.Glob(filepath.Join("..", "..", folder, "*_test.go"))
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
