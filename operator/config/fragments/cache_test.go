package fragments

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// sample is a test fragment: a text and its dependencies.
type sample struct {
	text string
	deps []assets.Dependency
}

var password = assets.Ref{Kind: assets.Secret, Namespace: "a", Name: "password"}

// cache is a Cache with the current versions of the objects.
type cache struct {
	Cache[sample]
	versions map[assets.Ref]string
}

func (c *cache) current(deps []assets.Dependency) bool {
	for _, d := range deps {
		if c.versions[d.Ref] != d.Version {
			return false
		}
	}
	return true
}

func newCache(versions map[assets.Ref]string) *cache {
	return &cache{Cache[sample]{Deps: func(c sample) []assets.Dependency { return c.deps }}, versions}
}

func user(name string) Workload { return Workload{Kind: "Prometheus", Namespace: "a", Name: name} }

func id(name string, generation int64) ID {
	return ID{Kind: "PodMonitor", Namespace: "a", Name: name, UID: types.UID("uid of " + name), Generation: generation}
}

// get reads a fragment and reports whether it was compiled for this call.
func get(c *cache, settings string, id ID, deps ...assets.Dependency) (fresh bool) {
	text := fmt.Sprintf("%s under %s", id.Name, settings)
	f := c.Get(settings, id, c.current, func() (sample, bool) {
		fresh = true
		return sample{text, deps}, true
	})
	if f.text != text {
		panic(fmt.Sprintf("got the fragment %q for %q", f.text, text))
	}
	return fresh
}

func TestFragmentsStandAsLongAsTheirInputs(t *testing.T) {
	versions := map[assets.Ref]string{password: "1"}
	c := newCache(versions)
	c.Use(user("p"), "s1")
	dep := func() assets.Dependency { return assets.Dependency{Ref: password, Version: versions[password]} }
	recreated := id("web", 2)
	recreated.UID = "another"
	for i, step := range []struct {
		what  string
		do    func() bool
		fresh bool
	}{
		{"the first time", func() bool { return get(c, "s1", id("web", 1), dep()) }, true},
		{"again", func() bool { return get(c, "s1", id("web", 1), dep()) }, false},
		{"a new generation", func() bool { return get(c, "s1", id("web", 2), dep()) }, true},
		{"the old generation", func() bool { return get(c, "s1", id("web", 1), dep()) }, true},
		{"another object", func() bool { return get(c, "s1", id("db", 1)) }, true},
		{"the Secret changed", func() bool { versions[password] = "2"; return get(c, "s1", id("web", 1), dep()) }, true},
		{"the Secret stands", func() bool { return get(c, "s1", id("web", 1), dep()) }, false},
		{"the Secret is gone", func() bool { versions[password] = ""; return get(c, "s1", id("web", 1), dep()) }, true},
		{"still gone", func() bool { return get(c, "s1", id("web", 1), dep()) }, false},
		{"the object without references does not care", func() bool { return get(c, "s1", id("db", 1)) }, false},
		{"deleted and made again", func() bool { return get(c, "s1", recreated, dep()) }, true},
		{"another kind with the same name", func() bool {
			other := id("web", 2)
			other.Kind = "ServiceMonitor"
			return get(c, "s1", other)
		}, true},
	} {
		if got := step.do(); got != step.fresh {
			t.Errorf("step %d, %s: compiled %v, want %v", i, step.what, got, step.fresh)
		}
	}
}

func TestWorkloadsWithEqualSettingsShare(t *testing.T) {
	c := newCache(nil)
	c.Use(user("p"), "s1")
	c.Use(user("q"), "s1")
	c.Use(user("r"), "s2")
	if !get(c, "s1", id("web", 1)) || get(c, "s1", id("web", 1)) || !get(c, "s2", id("web", 1)) {
		t.Error("fragments are shared wrongly")
	}
	if n := c.Compilations(); n != 2 {
		t.Errorf("%d compilations", n)
	}
	c.Use(user("p"), "s3") // q still has s1
	if get(c, "s1", id("web", 1)) {
		t.Error("the fragments of settings in use were dropped")
	}
	c.Release(user("q"))
	if !get(c, "s1", id("web", 1)) {
		t.Error("the fragments of settings that nobody has were kept")
	}
}

func TestNothingIsKeptForNobody(t *testing.T) {
	c := newCache(nil)
	if !get(c, "s1", id("web", 1)) || c.Len() != 0 {
		t.Error("kept for settings that no workload has")
	}
	c.Use(user("p"), "s1")
	for i := range 10 {
		get(c, "s1", id(fmt.Sprint(i), 1))
	}
	c.Forget("PodMonitor", "a", "3")
	c.Forget("PodMonitor", "a", "no such object")
	if n := c.Len(); n != 9 || !get(c, "s1", id("3", 1)) || get(c, "s1", id("4", 1)) {
		t.Errorf("%d fragments after one was forgotten", n)
	}
	c.Release(user("p"))
	c.Release(user("p"))
	if n := c.Len(); n != 0 {
		t.Errorf("%d fragments without a workload", n)
	}
}

func TestAResultThatMayNotBeKept(t *testing.T) {
	c := newCache(nil)
	c.Use(user("p"), "s1")
	for range 2 {
		called := false
		c.Get("s1", id("web", 1), c.current, func() (sample, bool) { called = true; return sample{}, false })
		if !called {
			t.Error("a temporary result was kept")
		}
	}
}

func TestAPanicDoesNotBlockTheObject(t *testing.T) {
	c := newCache(nil)
	c.Use(user("p"), "s1")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		c.Get("s1", id("web", 1), c.current, func() (sample, bool) { panic("bad object") })
	}()
	done := make(chan bool)
	go func() { done <- get(c, "s1", id("web", 1)) }()
	select {
	case fresh := <-done:
		if !fresh {
			t.Error("a fragment was kept of a compilation that panicked")
		}
	case <-time.After(time.Minute):
		t.Fatal("the object is locked for ever")
	}
}

func TestOneObjectIsCompiledOnceAtATime(t *testing.T) {
	c := newCache(nil)
	c.Use(user("p"), "s1")
	var compilations atomic.Int32
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			if i%8 == 0 {
				c.Use(user(fmt.Sprint(i)), "s1")
			}
			c.Get("s1", id("web", 1), c.current, func() (sample, bool) {
				compilations.Add(1)
				return sample{}, true
			})
			c.Len()
		})
	}
	wg.Wait()
	if n := compilations.Load(); n != 1 {
		t.Errorf("%d compilations", n)
	}
}
