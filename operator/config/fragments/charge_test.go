package fragments

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestChargeTo: an object is charged for its largest fragment while a workload uses the settings of that fragment.
func TestChargeTo(t *testing.T) {
	var c Cache[*string]
	charged := map[string]int{}
	c.ChargeTo(func(by any, kind string, name types.NamespacedName, bytes int, _ map[string]int) {
		if by != any(&c) {
			t.Errorf("charged by %v", by)
		}
		if charged[kind+" "+name.String()] = bytes; bytes == 0 {
			delete(charged, kind+" "+name.String())
		}
	})
	compile := func(settings, name string, generation int64, n int) {
		c.Get(settings, id(name, generation), nil, func() (*string, bool) {
			text := strings.Repeat("x", n)
			return &text, true
		})
	}
	want := func(when string, want map[string]int) {
		t.Helper()
		got := maps.Clone(charged)
		for name := range got {
			got[name] -= 16 // the header of the string
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: charged %v, want %v", when, got, want)
		}
	}
	c.Use(user("one"), "small")
	c.Use(user("two"), "large")
	compile("small", "a", 1, 100)
	compile("large", "a", 1, 1000)
	compile("small", "b", 1, 10)
	want("two settings", map[string]int{"PodMonitor a/a": 1000, "PodMonitor a/b": 10})
	compile("large", "a", 2, 50)
	want("another generation", map[string]int{"PodMonitor a/a": 100, "PodMonitor a/b": 10})
	c.Release(user("one"))
	want("a workload less", map[string]int{"PodMonitor a/a": 50})
	c.Release(user("two"))
	want("no workload", map[string]int{})
}

// TestHeld: workloads with the same settings share the size of their fragments, and a deleted
// object takes nothing.
func TestHeld(t *testing.T) {
	var c Cache[*string]
	compile := func(settings, name string, n int) {
		c.Get(settings, id(name, 1), nil, func() (*string, bool) {
			text := strings.Repeat("x", n-16)
			return &text, true
		})
	}
	want := func(when string, want ...int) {
		t.Helper()
		for i, name := range []string{"one", "two", "three"} {
			if got := c.Held(user(name)); got != want[i] {
				t.Errorf("%s: %s holds %d bytes, want %d", when, name, got, want[i])
			}
		}
	}
	c.Use(user("one"), "a")
	c.Use(user("two"), "a")
	c.Use(user("three"), "b")
	compile("a", "x", 1000)
	compile("a", "y", 500)
	compile("b", "x", 200)
	want("at first", 750, 750, 200)
	c.Release(user("two"))
	want("a workload less", 1500, 0, 200)
	c.Forget("PodMonitor", "a", "x")
	want("an object less", 500, 0, 0)
	c.Release(user("one"))
	c.Use(user("one"), "a")
	want("begun again", 0, 0, 0)
}

type withFiles struct {
	text  string
	files map[string][]byte
}

func (f *withFiles) Weight() (bytes int, files map[string]int) { return WeightOf(f, f.files) }

func TestWeight(t *testing.T) {
	f := &withFiles{text: strings.Repeat("x", 1000), files: map[string][]byte{"ca": make([]byte, 5000)}}
	w := weightOf(f)
	if w.bytes < 1000 || w.bytes > 1300 || w.files["ca"] != 5000 {
		t.Errorf("weight %+v", w)
	}
}
