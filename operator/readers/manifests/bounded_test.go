package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Suggestions for kinds, groups and values of any length cost a few copies of them.
func TestSuggestionsAreBounded(t *testing.T) {
	long := strings.Repeat("ServiceMonitor", 1<<20/14)
	for name, do := range map[string]func() string{
		"kind": func() string {
			return misnamed(schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: long}).Error()
		},
		"group": func() string {
			_ = misnamed(schema.GroupVersionKind{Group: long, Version: "v1", Kind: "ServiceMonitor"})
			return "x"
		},
		"value": func() string {
			return oneOf(field.NotSupported(field.NewPath("a"), long, []string{"a", "b"}), `supported values: "a", "b"`)
		},
	} {
		budgettest.AtMost(t, name, 16<<20, func() {
			if do() == "" {
				t.Errorf("%s: no message", name)
			}
		})
	}
}

// Reading is linear in the number of documents: four times as many take about four times as long.
func TestManyDocuments(t *testing.T) {
	for _, one := range []string{"# one\n---\n", "# one\r\r\n---\r\n"} { // the second kind is not found in the text
		few, many := tookToLoad(t, strings.Repeat(one, 20_000)), tookToLoad(t, strings.Repeat(one, 80_000))
		if many > 9*few { // 16 times as long with a search from the beginning
			t.Errorf("%q: 20,000 documents take %s, 80,000 take %s", one, few, many)
		}
	}
}

func tookToLoad(t *testing.T, text string) time.Duration {
	t.Helper()
	path := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	least := time.Hour
	for range 3 {
		began := cputime.Now()
		if _, err := Load([]string{path}, nil); err != nil {
			t.Fatal(err)
		}
		least = min(least, cputime.Since(began))
	}
	return least
}

// Rejected values of an object of one megabyte take the time of a few reads and are capped.
func TestManyRefusedValues(t *testing.T) {
	for name, spec := range map[string]string{
		"missing":    "{staticConfigs: [" + strings.Repeat("{},", 20_000) + "{}]}",
		"type":       "{staticConfigs: [{targets: [a], labels: {" + budgettest.Numbered(20_000, "a%d: 1, ") + "}}]}",
		"nested":     "{staticConfigs: [{targets: [" + strings.Repeat("1,", 20_000) + "1]}]}",
		"duplicates": "{consulSDConfigs: [{server: a, services: [" + strings.Repeat("a,", 20_000) + "a]}]}",
	} {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: x}\nspec: " + spec + "\n"
			object := catalog.ScrapeConfig.New()
			raw, err := yaml.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			began := cputime.Now()
			_, err = shared.read(catalog.ScrapeConfig.GroupVersionKind, raw, object, true)
			if took := cputime.Since(began); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
			all := faults.Leaves(err)
			if len(all) > 3*budget.DocumentFaults || len(err.Error()) > len(all)*200 {
				t.Errorf("%d faults in %d bytes", len(all), len(err.Error()))
			}
			if got := all[len(all)-1].Error(); len(all) >= budget.DocumentFaults && !strings.Contains(got, "no more are looked for") {
				t.Errorf("the last is %q", got)
			}
		})
	}
}

// An object that is too large for an API server is not decoded.
func TestLargeObject(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	text := "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: x}\nspec:\n  endpoints:\n" + strings.Repeat("  - {port: w}\n", 200_000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	budgettest.AtMost(t, "large object", int64(20*len(text)), func() {
		_, all := LoadAll([]string{path}, nil)
		if want := "the object has more than 1572864 bytes, the limit of one ServiceMonitor"; len(all) != 1 || all[0].Err.Error() != want || all[0].Name != "x" {
			t.Errorf("faults %v, want %s", all, want)
		}
	})
}

// Reading stops after many faults, and says so: each takes kilobytes until it is printed.
func TestManyFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte(strings.Repeat("---\n{}\n", 20_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(t.TempDir(), "b.yaml")
	if err := os.WriteFile(later, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, loaded := LoadAll([]string{path, later}, nil)
	_, sound := LoadSound([]string{path, later}, nil, false)
	for name, all := range map[string][]Fault{"all": loaded, "sound": sound} {
		last := withPlace(all[len(all)-1]).Error()
		if want := path + ": more than 10000 faults up to here, the rest was not read"; len(all) != 10_001 || last != want {
			t.Errorf("%s: %d faults, the last is %q, want %q", name, len(all), last, want)
		}
	}
}

// Kubernetes objects that take much more memory than text are not decoded.
func TestLargeNativeObjects(t *testing.T) {
	for kind, spec := range map[string]string{
		"Pod":     "{containers: [" + strings.Repeat("{},", 20_000) + "{}]}",
		"Service": "{ports: [" + strings.Repeat("{},", 60_000) + "{}]}",
	} {
		text := "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: x}\nspec: " + spec + "\n"
		objects, all := Read("x", []byte(text), kinds())
		if len(objects.Native()) > 0 || len(all) != 1 || !strings.Contains(all[0].Err.Error(), "the limit of one "+kind) {
			t.Errorf("%s: %d objects, %v", kind, len(objects.Native()), all)
		}
	}
}
