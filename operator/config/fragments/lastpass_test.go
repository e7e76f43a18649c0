package fragments

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"weak"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// monitors counts the objects of monitor, so that each has another version.
var monitors int

func monitor(name string) *v1.ServiceMonitor {
	m := &v1.ServiceMonitor{}
	m.Namespace, m.Name = "a", name
	monitors++
	m.ResourceVersion = fmt.Sprint(monitors)
	return m
}

func TestLastPassForgetsWithTheSettings(t *testing.T) {
	var p LastPass[string]
	m, compiles := monitor("web"), 0
	pass := func(settings, kind string, want int) {
		t.Helper()
		p.Begin(settings)
		All(&p, kind, []*v1.ServiceMonitor{m}, nil, nil, func(m *v1.ServiceMonitor) string { compiles++; return m.Name })
		if compiles != want {
			t.Errorf("compiled %d times, want %d", compiles, want)
		}
	}
	pass("a", v1.ServiceMonitorKind, 1)
	pass("a", v1.ServiceMonitorKind, 1)
	pass("a", v1.PodMonitorKind, 2)
	pass("b", v1.ServiceMonitorKind, 3)
}

// TestLastPassFollowsChanges: after any additions, replacements and removals between two passes, only new
// objects are compiled, and no object gets the fragment of another.
func TestLastPassFollowsChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var p LastPass[string]
	var all []*v1.ServiceMonitor
	version, known := map[*v1.ServiceMonitor]string{}, map[*v1.ServiceMonitor]bool{}
	next := 0
	fresh := func() *v1.ServiceMonitor {
		next++
		m := monitor("web")
		version[m] = fmt.Sprint(next)
		return m
	}
	for pass := range 400 {
		for range random.IntN(6) {
			at := random.IntN(len(all) + 1)
			switch n := random.IntN(8); {
			case n < 3:
				all = slices.Insert(all, at, fresh())
			case n < 5 && at < len(all):
				all[at] = fresh()
			case n < 6 && at < len(all):
				all = slices.Delete(all, at, min(at+random.IntN(12), len(all)))
			default:
				for range 10 {
					all = slices.Insert(all, at, fresh())
				}
			}
		}
		p.Begin("")
		out := All(&p, v1.ServiceMonitorKind, all, nil, nil, func(m *v1.ServiceMonitor) string {
			if known[m] {
				t.Errorf("pass %d compiles an object again", pass)
			}
			return version[m]
		})
		for i, m := range all {
			if out[i] != version[m] {
				t.Fatalf("pass %d: object %d is compiled to version %s, not %s", pass, i, out[i], version[m])
			}
		}
		clear(known)
		for _, m := range all {
			known[m] = true
		}
	}
}

// TestLastPassAfterManyChanges: more consecutive replacements than the lookahead slow down this pass, but not
// the next.
func TestLastPassAfterManyChanges(t *testing.T) {
	var p LastPass[string]
	var all []*v1.ServiceMonitor
	for i := range 2000 {
		all = append(all, monitor(fmt.Sprint(i)))
	}
	pass := func() int32 {
		p.Begin("")
		var compiles atomic.Int32
		All(&p, v1.ServiceMonitorKind, all, nil, nil, func(m *v1.ServiceMonitor) string { compiles.Add(1); return m.Name })
		return compiles.Load()
	}
	pass()
	before := slices.Clone(all)
	for i := range 1000 {
		all[i+500] = monitor(fmt.Sprint(i))
	}
	if n := pass(); n < 1000 {
		t.Errorf("compiled %d of 1,000 new objects", n)
	}
	if n := pass(); n != 0 {
		t.Errorf("compiled %d of the same objects", n)
	}
	runtime.KeepAlive(before)
}

// TestLastPassKeepsNoObjects: objects of a pass can be garbage collected.
func TestLastPassKeepsNoObjects(t *testing.T) {
	var p LastPass[int]
	p.Begin("a")
	first := monitor("web")
	held := weak.Make(first)
	All(&p, v1.ServiceMonitorKind, []*v1.ServiceMonitor{first}, nil, nil, func(*v1.ServiceMonitor) int { return 7 })
	first = nil
	runtime.GC()
	if held.Value() != nil {
		t.Error("the object of a pass is kept")
	}
	runtime.KeepAlive(&p)
}

// TestLastPassKnowsVersions: a fragment is reused for the same version of the same object, wherever it is in memory, but
// not between an object and its stub, and not without a resource version.
func TestLastPassKnowsVersions(t *testing.T) {
	of := func(uid, resource string, stub bool) *v1.ServiceMonitor {
		m := monitor("web")
		m.UID, m.ResourceVersion, m.LeftOut = types.UID(uid), resource, stub
		return m
	}
	for name, tc := range map[string]struct {
		before, after *v1.ServiceMonitor
		compiled      bool
	}{
		"same":             {of("u", "7", false), of("u", "7", false), false},
		"changed":          {of("u", "7", false), of("u", "8", false), true},
		"another object":   {of("u", "7", false), of("v", "7", false), true},
		"left out":         {of("u", "7", false), of("u", "7", true), true},
		"no longer":        {of("u", "7", true), of("u", "7", false), true},
		"without versions": {of("", "", false), of("", "", false), true},
	} {
		var p LastPass[string]
		compiled := false
		for _, m := range []*v1.ServiceMonitor{tc.before, tc.after} {
			p.Begin("")
			compiled = false
			All(&p, v1.ServiceMonitorKind, []*v1.ServiceMonitor{m}, nil, nil, func(m *v1.ServiceMonitor) string { compiled = true; return m.Name })
		}
		if compiled != tc.compiled {
			t.Errorf("%s: compiled again: %v", name, compiled)
		}
	}
}

// A postponed result is replaced by that of the last pass, in each pass until it is known. A new object has none.
func TestPostponed(t *testing.T) {
	var p LastPass[string]
	m := monitor("web")
	m.UID = "1"
	const later = "later"
	pass := func(result string, objects ...*v1.ServiceMonitor) []string {
		p.Begin("")
		defer p.End()
		return slices.Clone(All(&p, v1.ServiceMonitorKind, objects, nil, func(s string) bool { return s == later }, func(m *v1.ServiceMonitor) string { return m.Name + result }))
	}
	pass("-1", m)
	if p.Whole() {
		t.Error("there was no pass before the first one")
	}
	changed, fresh := *m, *m
	changed.Name, changed.ResourceVersion = "", "changed"
	fresh.Name, fresh.UID, fresh.ResourceVersion = "", "2", "fresh"
	for range 3 {
		if got := pass(later, &changed, &fresh); !slices.Equal(got, []string{"web-1", later}) || !p.Whole() {
			t.Errorf("%q", got)
		}
	}
	objects, kept := Without([]int{1, 2}, []string{"web-1", later}, func(s string) bool { return s == later })
	if !slices.Equal(objects, []int{1}) || !slices.Equal(kept, []string{"web-1"}) {
		t.Errorf("%v %q", objects, kept)
	}
	if got := pass("-2", &changed, &fresh); !slices.Equal(got, []string{"-2", "-2"}) {
		t.Errorf("%q", got)
	}
	p.Begin("other settings")
	if p.Whole() {
		t.Error("whole with other settings")
	}
}
