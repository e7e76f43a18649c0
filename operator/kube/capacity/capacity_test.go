package capacity

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A single namespace may use the whole capacity.
func TestNothingChangesWhileEverythingFits(t *testing.T) {
	c := New(1 << 20)
	s := newServer(c, "ServiceMonitor")
	for i := range 9 {
		s.put("a", fmt.Sprint(i), 100)
	}
	if stubs := s.stubNames(); stubs != nil {
		t.Errorf("stubs: %q", stubs)
	}
	key := types.NamespacedName{Namespace: "a", Name: "3"}
	if got := s.Enter(s.stored[key].DeepCopy()); got != s.cached[key] {
		t.Error("the same version of an object is cached twice")
	}
	for i := range 9 {
		s.delete("a", fmt.Sprint(i))
	}
	if held, stubs := c.Held(); held != 0 || stubs != 0 || len(c.entries) != 0 || len(c.namespaces) != 0 || c.settling != nil {
		t.Errorf("%d bytes and %d stubs left, %+v", held, stubs, c)
	}
}

// The largest objects of the namespace that uses most are left out; objects of others remain, even if they
// arrive later and are of another kind.
func TestLargestObjectsOfLargestNamespaceAreLeftOut(t *testing.T) {
	c := New(1 << 20)
	monitors, rules := newServer(c, "ServiceMonitor"), newServer(c, "PrometheusRule")
	monitors.put("small", "a", 200)
	for i := range 10 {
		monitors.put("large", fmt.Sprint(i), 50+i)
	}
	rules.put("large", "rule", 300)
	rules.put("small", "b", 10)
	rules.take()
	monitors.take()
	if got := rules.stubNames(); !slices.Equal(got, []string{"large/rule"}) {
		t.Errorf("rules: %q", got)
	}
	if got := monitors.stubNames(); got != nil {
		t.Errorf("monitors: %q", got)
	}
	monitors.put("small", "c", 290)
	monitors.take()
	if got := monitors.stubNames(); !slices.Equal(got, []string{"large/9"}) {
		t.Errorf("monitors: %q", got)
	}
	if held, _ := c.Held(); held > c.Room() {
		t.Errorf("%d bytes of %d", held, c.Room())
	}
}

// For every order of additions, changes and deletions, the result is the division of the final objects.
func TestOrderDoesNotMatter(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			c := New(1 << 20)
			servers := []*server{newServer(c, "ServiceMonitor"), newServer(c, "PrometheusRule")}
			ctx, cancel := context.WithCancel(t.Context())
			defer synctest.Wait()
			defer cancel()
			for _, s := range servers {
				go s.run(ctx)
			}
			for range 200 {
				s := servers[random.IntN(2)]
				namespace, name := string(rune('a'+random.IntN(4))), fmt.Sprint(random.IntN(12))
				switch s.stored[types.NamespacedName{Namespace: namespace, Name: name}] != nil && random.IntN(3) == 0 {
				case true:
					s.delete(namespace, name)
				case false:
					s.put(namespace, name, []int{1, 5, 20, 80, 80, 300}[random.IntN(6)])
				}
				if held, _ := c.Held(); held > c.Room() {
					t.Fatalf("seed %d: %d bytes of %d", seed, held, c.Room())
				}
				if random.IntN(10) == 0 {
					time.Sleep(settlePause)
				}
			}
			time.Sleep(20 * time.Minute)
			var got []string
			for _, s := range servers {
				got = append(got, s.stubNames()...)
				for key, o := range s.cached {
					if o.GetResourceVersion() != s.stored[key].ResourceVersion || !IsStub(o) && o.(*v1.ServiceMonitor).Spec.JobLabel != s.stored[key].Spec.JobLabel {
						t.Errorf("seed %d: %s is cached as it was", seed, key)
					}
				}
			}
			slices.Sort(got)
			if want := leftOutOf(c.Room(), servers...); !slices.Equal(got, want) {
				t.Errorf("seed %d: left out %q, want %q", seed, got, want)
			}
		})
	}
}

// Stubs are read when the objects fit again, the smallest first, and not earlier.
func TestComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(New(1<<20), "ServiceMonitor")
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		go s.run(ctx)
		for i, kib := range []int{300, 310, 320, 330, 340} {
			s.put("a", fmt.Sprint(i), kib)
		}
		time.Sleep(time.Hour)
		if got := s.stubNames(); !slices.Equal(got, []string{"a/3", "a/4"}) || s.reads != nil {
			t.Fatalf("stubs %q, reads %q", got, s.reads)
		}
		s.delete("a", "0")
		s.delete("a", "1")
		time.Sleep(time.Minute)
		if got := s.stubNames(); got != nil || !slices.Equal(s.reads, []string{"3", "4"}) {
			t.Errorf("stubs %q, reads %q", got, s.reads)
		}
	})
}

// The pauses between reads of an unreadable stub increase.
func TestReadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(1 << 20)
		var times []time.Time
		cache := c.Cache("Probe", false, func(context.Context, types.NamespacedName) (Object, error) {
			times = append(times, time.Now())
			return nil, fmt.Errorf("no")
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			cache.Run(ctx)
		}()
		s := newServer(c, "x")
		for i := range 3 {
			o := &v1.Probe{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprint(i), UID: "u", ResourceVersion: "1"}}
			o.Spec.JobName = strings.Repeat("x", 400<<10)
			s.cached[catalog.KeyOf(o)] = cache.Enter(o)
		}
		cache.Remove(s.cached[types.NamespacedName{Namespace: "a", Name: "1"}])
		time.Sleep(time.Hour)
		cancel()
		<-ended
		if n := len(times); n < 10 || n > 30 || times[n-1].Sub(times[n-2]) < lastRetry/2 {
			t.Errorf("%d reads, the last after %s", n, times[n-1].Sub(times[n-2]))
		}
	})
}

// Objects missing in a list are removed, and unchanged ones are kept as they are.
func TestRelist(t *testing.T) {
	c := New(1 << 20)
	s := newServer(c, "ServiceMonitor")
	for i := range 4 {
		s.put("a", fmt.Sprint(i), 300+i)
	}
	before := maps.Clone(s.cached)
	s.Relist()
	for _, i := range []string{"0", "3"} {
		s.Enter(s.stored[types.NamespacedName{Namespace: "a", Name: i}].DeepCopy())
	}
	out := s.Listed()
	slices.SortFunc(out, func(a, b Object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	if len(out) != 2 || out[0] != before[types.NamespacedName{Namespace: "a", Name: "0"}] || out[1].GetName() != "3" {
		t.Errorf("listed: %d objects, the first as before: %t", len(out), len(out) > 0 && out[0] == before[catalog.KeyOf(out[0])])
	}
	if len(c.entries) != 2 {
		t.Errorf("%d entries", len(c.entries))
	}
}

// Compilation results count, and files that several objects share count once.
func TestCharges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(1 << 20)
		s := newServer(c, "ServiceMonitor")
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		go s.run(ctx)
		for i := range 4 {
			s.put("a", fmt.Sprint(i), 10+i)
		}
		s.put("b", "0", 100)
		name := func(i int) types.NamespacedName { return types.NamespacedName{Namespace: "a", Name: fmt.Sprint(i)} }
		bundle := map[string]int{"ca": 400 << 10}
		for i := range 3 {
			c.Charge(t, "ServiceMonitor", name(i), 1<<10, bundle)
		}
		synctest.Wait()
		if got := s.stubNames(); got != nil {
			t.Fatalf("a file counts more than once: %q", got)
		}
		c.Charge(t, "ServiceMonitor", name(3), 700<<10, nil)
		synctest.Wait()
		if got := s.stubNames(); !slices.Equal(got, []string{"a/3"}) {
			t.Fatalf("stubs %q", got)
		}
		c.Charge(t, "ServiceMonitor", name(3), 100, nil) // the compilation result of the stub is empty
		time.Sleep(time.Hour)
		if got := s.stubNames(); !slices.Equal(got, []string{"a/3"}) || s.reads != nil {
			t.Fatalf("it came back without room for it: stubs %q, reads %q", got, s.reads)
		}
		for i := range 3 {
			c.Charge(t, "ServiceMonitor", name(i), 1<<10, nil)
		}
		s.put("b", "0", 10)
		time.Sleep(time.Hour)
		if got := s.stubNames(); got != nil {
			t.Errorf("stubs %q", got)
		}
	})
}

// The estimate of compilation results counts until the object is compiled, and again when the object
// changes but not when only its metadata does.
func TestGuess(t *testing.T) {
	c := New(1 << 20)
	cache := c.Cache("ServiceMonitor", true, nil)
	held := func() int {
		n, _ := c.Held()
		return n
	}
	o := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b", UID: "u", ResourceVersion: "1", Generation: 1}}
	enter := func(generation int64, kib int, labels map[string]string) (size int) {
		o = o.DeepCopy()
		o.Generation, o.ResourceVersion, o.Labels = generation, o.ResourceVersion+"1", labels
		o.Spec.JobLabel = strings.Repeat("x", kib<<10)
		cache.Enter(o)
		return budget.Size(o, mostCounted)
	}
	charge := func(bytes int) {
		c.Charge(t, "ServiceMonitor", types.NamespacedName{Namespace: "a", Name: "b"}, bytes, nil)
	}
	size := enter(1, 10, nil)
	if got := held(); got != size+guess(size) {
		t.Errorf("%d bytes are held of a new object of %d", got, size)
	}
	charge(100)
	if got := held(); got != size+100 {
		t.Errorf("%d bytes are held of a compiled object of %d", got, size)
	}
	size = enter(1, 10, map[string]string{"a": "b"})
	if got := held(); got != size+100 {
		t.Errorf("%d bytes are held after a change of labels, want %d", got, size+100)
	}
	size = enter(2, 200, nil)
	if got := held(); got != size+guess(size) {
		t.Errorf("%d bytes are held of an object that has grown to %d", got, size)
	}
	charge(100)
	if got := held(); got != size+100 {
		t.Errorf("%d bytes are held of a compiled object of %d", got, size)
	}
	enter(3, 600, nil) // would fit without its estimate
	if _, stubs := c.Held(); stubs != 1 {
		t.Error("an object is whole that has no room for what it may compile to")
	}
	charge(50) // for the stub
	size = enter(4, 200, nil)
	if got := held(); got != size+guess(size) {
		t.Errorf("%d bytes are held of an object that was a stub, want %d", got, size+guess(size))
	}
}
