package hostile_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
)

func source(t testing.TB, o hostile.Options) *hostile.Source {
	t.Helper()
	if o.Namespace == "" {
		o.Namespace = "tenant"
	}
	s, err := hostile.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func encoded(t testing.TB, o hostile.Object) []byte {
	t.Helper()
	raw, err := json.Marshal([]any{o.Manifest, o.With})
	if err != nil {
		t.Fatalf("object %d (%s): %v", o.Index, o.Strategy, err)
	}
	return raw
}

// The CRDs accept nearly all objects, every strategy generates some, each object fits into etcd, and objects are
// reproducible.
func TestObjects(t *testing.T) {
	s, again := source(t, hostile.Options{Seed: 5, Beta: true}), source(t, hostile.Options{Seed: 5, Beta: true})
	count := 400
	if testing.Short() {
		count = 60
	}
	tried, refused := map[string]int{}, map[string]int{}
	total := 0
	for i := range count {
		o := s.Object(i)
		tried[o.Strategy]++
		if o.Refused != "" {
			refused[o.Strategy]++
			total++
			t.Logf("object %d, %s: %.300s", i, o.Strategy, o.Refused)
		}
		raw := encoded(t, o)
		if len(raw) > 3<<20 {
			t.Errorf("object %d (%s) has %d bytes, with what it refers to: no API server takes it", i, o.Strategy, len(raw))
		}
		if i%20 == 0 && string(raw) != string(encoded(t, again.Object(i))) {
			t.Errorf("object %d (%s) is another the second time", i, o.Strategy)
		}
	}
	if total*10 > count {
		t.Errorf("the CRDs refuse %d of %d: %v", total, count, refused)
	}
	if missing := slices.DeleteFunc(hostile.Strategies(), func(name string) bool { return tried[name] > 0 }); count >= 400 && len(missing) > 0 {
		t.Errorf("strategies without objects: %q", missing)
	}
	t.Log(slices.Sorted(maps.Keys(tried)), tried)
}

// Real manifests are mutated if they are available; those of the examples always are.
func TestRealManifests(t *testing.T) {
	files, err := filepath.Glob("../../../../deploy/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	var all []hostile.Manifest
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		found, err := hostile.Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all = append(all, found...)
	}
	s := source(t, hostile.Options{Seed: 1, Real: all})
	for i := range 100 {
		o := s.Object(i)
		if o.Strategy == "real with extremes" && o.Refused != "" {
			t.Errorf("object %d: %s", i, o.Refused)
		}
	}
}

// FuzzObject checks the properties of TestObjects for any seed.
func FuzzObject(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed, int(seed)*1000)
	}
	f.Fuzz(func(t *testing.T, seed uint64, index int) {
		s := source(t, hostile.Options{Seed: seed, Beta: true})
		first := s.Object(index)
		if string(encoded(t, first)) != string(encoded(t, s.Object(index))) {
			t.Errorf("object %d of seed %d (%s) is another the second time", index, seed, first.Strategy)
		}
	})
}
