package capacity

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// server stores objects and delivers changes to a cache like a watch.
type server struct {
	*Cache
	mu      sync.Mutex
	stored  map[types.NamespacedName]*v1.ServiceMonitor
	cached  map[types.NamespacedName]Object
	reads   []string
	version int
}

func newServer(c *Capacity, kind string) *server {
	s := &server{stored: map[types.NamespacedName]*v1.ServiceMonitor{}, cached: map[types.NamespacedName]Object{}}
	s.Cache = c.Cache(kind, false, func(_ context.Context, name types.NamespacedName) (Object, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reads = append(s.reads, name.Name)
		if o := s.stored[name]; o != nil {
			return o.DeepCopy(), nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{}, name.Name)
	})
	return s
}

// run delivers the changes of the capacity until the context ends.
func (s *server) run(ctx context.Context) {
	go s.Run(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Changed():
			s.take()
		}
	}
}

func (s *server) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.Take() {
		s.cached[catalog.KeyOf(o)] = o
	}
}

// put stores an object of kib KiB.
func (s *server) put(namespace, name string, kib int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	o := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(namespace + name), ResourceVersion: fmt.Sprint(s.version), Labels: map[string]string{"team": "a"},
	}}
	o.Spec.JobLabel = strings.Repeat("x", kib<<10)
	s.stored[catalog.KeyOf(o)] = o
	s.cached[catalog.KeyOf(o)] = s.Enter(o.DeepCopy())
}

func (s *server) delete(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	s.Remove(s.stored[key])
	delete(s.stored, key)
	delete(s.cached, key)
}

// stubNames returns the sorted names of cached stubs.
func (s *server) stubNames() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, o := range s.cached {
		if IsStub(o) {
			out = append(out, key.String())
		}
	}
	slices.Sort(out)
	return out
}

// leftOutOf returns the names of the stored objects that share.Divide leaves out.
func leftOutOf(room int, servers ...*server) (out []string) {
	var objects []share.Object
	for _, s := range servers {
		for key, o := range s.stored {
			objects = append(objects, share.Object{Namespace: key.Namespace, Name: s.kind + "/" + key.Name, Bytes: budget.Size(o, mostCounted)})
		}
	}
	for _, i := range share.Divide(objects, room) {
		_, name, _ := strings.Cut(objects[i].Name, "/")
		out = append(out, objects[i].Namespace+"/"+name)
	}
	slices.Sort(out)
	return out
}

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
func TestTheLargestOfWhoHoldsMost(t *testing.T) {
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

func TestStub(t *testing.T) {
	long := strings.Repeat("v", 1<<20)
	o := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{
		Namespace: "a", Name: "b", UID: "u", ResourceVersion: "7", Generation: 3, Labels: map[string]string{"team": "a", "z": long[:60]},
		Annotations: map[string]string{"operator.prometheus.io/controller-id": "mine", "operator.prometheus.io/note": "-" + strings.Repeat("é", 1000), "a": long}, Finalizers: []string{"f"},
	}}
	for i := range 200 {
		o.Labels[fmt.Sprintf("x%d", i)] = long[:60]
	}
	o.Spec.Version = long
	o.Status.Conditions = []v1.Condition{{Type: "Available"}}
	c := New(1 << 10)
	got := c.Cache("Prometheus", false, nil).Enter(o).(*v1.Prometheus)
	if got.Name != "b" || got.UID != "u" || got.ResourceVersion != "7" || got.Generation != 3 || got.Labels["team"] != "a" || len(got.Finalizers) != 1 ||
		got.Spec.Version != "" || len(got.Annotations) != 2 || !utf8.ValidString(got.Annotations["operator.prometheus.io/note"]) || got.Annotations["operator.prometheus.io/controller-id"] != "mine" || len(got.Status.Conditions) != 1 {
		t.Errorf("stub: %+v", got)
	}
	if n := budget.Size(got, 1<<20); n > 64<<10 {
		t.Errorf("the stub has %d bytes", n)
	}
	err := fmt.Sprint(v1.Undecodable(got))
	for _, part := range []string{"at most 1 KiB", `namespace "a"`, "this object takes 2.0 MiB of it", "make it smaller, or delete others"} {
		if !strings.Contains(err, part) {
			t.Errorf("%s: no %q", err, part)
		}
	}
	if !IsStub(got) || IsStub(o) {
		t.Error("which is a stub?")
	}
}

// Stubs have their statuses, together up to a part of the capacity. One without it is marked, so that nothing replaces it.
func TestStatusOfStubs(t *testing.T) {
	rule := func(name string, statusBytes int) *v1.PrometheusRule {
		r := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, ResourceVersion: "1"}}
		r.Spec.Groups = []v1.RuleGroup{{Name: strings.Repeat("x", 5<<20)}}
		if statusBytes > 0 {
			r.Status.Bindings = []v1.WorkloadBinding{{Name: strings.Repeat("x", statusBytes)}}
		}
		return r
	}
	c := New(4 << 20)
	cache := c.Cache("PrometheusRule", false, nil)
	enter := func(name string, statusBytes int, leftOut bool) {
		t.Helper()
		got := cache.Enter(rule(name, statusBytes)).(*v1.PrometheusRule)
		if !IsStub(got) || v1.StatusLeftOut(got) != leftOut || (len(got.Status.Bindings) > 0) != (statusBytes > 0 && !leftOut) {
			t.Errorf("%s: stub %t, without its status %t, %d bindings", name, IsStub(got), v1.StatusLeftOut(got), len(got.Status.Bindings))
		}
	}
	enter("too large", budget.StatusBytes, true)
	for i := range 3 {
		enter(fmt.Sprint("as large as the operator makes it ", i), budget.BindingsBytes, false)
	}
	enter("beyond the part", budget.BindingsBytes, true)
	enter("empty", 0, false)
	enter("as large as the operator makes it 0", 0, false)
	enter("within the part again", budget.BindingsBytes, false)
	for name := range map[string]bool{"within the part again": true, "as large as the operator makes it 1": true, "as large as the operator makes it 2": true} {
		cache.Remove(rule(name, 0))
	}
	if c.statuses != 0 {
		t.Errorf("%d bytes count although no stub has a status", c.statuses)
	}
	undecodable := rule("too large to be decoded", 0)
	undecodable.Decoding.StatusLeftOut = true
	if got := cache.Enter(undecodable); !v1.StatusLeftOut(got) {
		t.Error("a status that was not read counts as empty")
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
