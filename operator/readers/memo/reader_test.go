package memo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// cluster is a fake [readers.Reader] that records its calls.
type cluster struct {
	mu    sync.Mutex
	pods  int
	takes time.Duration
	err   error
	asked []string
}

func (c *cluster) ask(format string, args ...any) (pods int, err error) {
	c.mu.Lock()
	c.asked = append(c.asked, fmt.Sprintf(format, args...))
	pods, err = c.pods, c.err
	c.mu.Unlock()
	time.Sleep(c.takes)
	return pods, err
}

func (c *cluster) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// took returns the calls since it was last called.
func (c *cluster) took() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.asked
	c.asked = nil
	return out
}

func (c *cluster) Get(_ context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	if _, err := c.ask("get %s %s", of.Resource, key); err != nil {
		return nil, err
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}, nil
}

func (c *cluster) List(_ context.Context, q readers.Query) (out []readers.Object, err error) {
	pods, err := c.ask("list %s limit=%d", strings.TrimSpace(q.String()+" "+q.Labels), q.Limit)
	for i := range pods {
		if q.Limit > 0 && i == q.Limit {
			break
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprint(i), ManagedFields: make([]metav1.ManagedFieldsEntry, 1)}}
		if kept := q.Kept(pod); kept != nil {
			out = append(out, kept)
		}
	}
	return out, err
}

func (c *cluster) References(context.Context) assets.Reader {
	_, _ = c.ask("references")
	return assets.NewCache(nil, nil).Reader(context.Background())
}

func (c *cluster) May(_ context.Context, account types.NamespacedName, verb string, of schema.GroupResource, namespace string) (bool, error) {
	_, err := c.ask("may %s %s %s in %s", account, verb, of, namespace)
	return true, err
}

var pods = readers.Query{GroupVersionResource: readers.Pods}

func list(t *testing.T, r *Reader, q readers.Query) []readers.Object {
	t.Helper()
	out, err := r.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func expect(t *testing.T, c *cluster, want ...string) {
	t.Helper()
	if got := c.took(); !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
}

// Concurrent reads of the same objects share one call, as do reads in the seconds that follow.
func TestReadsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{pods: 2, takes: time.Second}
		r := New(t.Context(), c, nil)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if got, err := r.List(t.Context(), pods); err != nil || len(got) != 2 || got[0].GetManagedFields() != nil {
					t.Errorf("got %v, %v", got, err)
				}
			})
		}
		wg.Wait()
		expect(t, c, "list pods in all namespaces limit=0")
		version := r.Version()
		time.Sleep(keepUnwatched - time.Millisecond)
		list(t, r, pods)
		if r.Version() != version {
			t.Error("the version changes while everything is remembered")
		}
		expect(t, c)
		time.Sleep(time.Millisecond)
		if r.Version() == version {
			t.Error("the version stays though the list must be read again")
		}
		list(t, r, pods)
		expect(t, c, "list pods in all namespaces limit=0")
		named, labelled := pods, pods
		named.Namespace, labelled.Labels = "demo", "app=web"
		list(t, r, named)
		list(t, r, labelled)
		expect(t, c, "list pods in namespace demo limit=0", "list pods in all namespaces app=web limit=0")
		for range 2 {
			if _, err := r.Get(t.Context(), readers.Pods, types.NamespacedName{Namespace: "demo", Name: "x"}); err != nil {
				t.Error(err)
			}
			if may, err := r.May(t.Context(), types.NamespacedName{Namespace: "demo", Name: "prom"}, "list", readers.Pods.GroupResource(), "demo"); !may || err != nil {
				t.Error(may, err)
			}
			r.References(t.Context())
		}
		expect(t, c, "get pods demo/x", "may demo/prom list pods in demo", "references")
	})
}

// A canceled caller does not end a read that others wait for.
func TestCallerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{pods: 1, takes: 3 * time.Second}
		r := New(t.Context(), c, nil)
		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.List(gone, pods); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v", err)
		}
		if got := list(t, r, pods); len(got) != 1 {
			t.Errorf("got %v", got)
		}
		expect(t, c, "list pods in all namespaces limit=0")
	})
}

// Forbidden and not found are cached; other errors are not.
func TestErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		err   error
		reads int
	}{
		"forbidden":   {apierrors.NewForbidden(readers.Pods.GroupResource(), "", errors.New("no")), 1},
		"not found":   {apierrors.NewNotFound(readers.Pods.GroupResource(), "x"), 1},
		"unavailable": {apierrors.NewServiceUnavailable("later"), 2},
		"network":     {errors.New("connection refused"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cluster{err: tc.err}
				r := New(t.Context(), c, nil)
				for range 2 {
					if _, err := r.List(t.Context(), pods); !errors.Is(err, tc.err) {
						t.Errorf("err = %v", err)
					}
				}
				if got := c.took(); len(got) != tc.reads {
					t.Errorf("asked %q", got)
				}
				time.Sleep(keepUnwatched)
				c.set(func() { c.err = nil })
				list(t, r, pods)
			})
		})
	}
}

// A query with Keep is served from the cache unless the list is too large.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{pods: 3}
		r := New(t.Context(), c, nil)
		q := pods
		q.Keep = func(o readers.Object) readers.Object {
			if o.GetName() == "1" {
				return nil
			}
			o.SetLabels(map[string]string{"kept": "yes"})
			return o
		}
		for range 2 {
			if got := list(t, r, q); len(got) != 2 || got[0].GetLabels()["kept"] != "yes" {
				t.Errorf("got %v", got)
			}
		}
		expect(t, c, fmt.Sprintf("list pods in all namespaces limit=%d", maxWhole+1))
		whole := pods
		whole.Limit = maxWhole + 1
		if got := list(t, r, whole); got[0].GetLabels() != nil {
			t.Error("what is remembered was changed")
		}
		time.Sleep(keepUnwatched)
		c.set(func() { c.pods = maxWhole + 10 })
		for range 2 {
			if got := list(t, r, q); len(got) != maxWhole+9 {
				t.Errorf("%d objects", len(got))
			}
		}
		expect(t, c, fmt.Sprintf("list pods in all namespaces limit=%d", maxWhole+1), "list pods in all namespaces limit=0", "list pods in all namespaces limit=0")
	})
}

// changes is a fake [Source] with watches that a test controls.
type changes struct {
	mu      sync.Mutex
	refuses []string // namespaces; "" for all
	open    map[string]*watch.FakeWatcher
	now     int
}

func (c *changes) Now(_ context.Context, of schema.GroupVersionResource, namespace string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.refuses, namespace) {
		return "", apierrors.NewForbidden(of.GroupResource(), "", errors.New("no"))
	}
	c.now++
	return fmt.Sprint(c.now), nil
}

func (c *changes) Watch(_ context.Context, of schema.GroupVersionResource, namespace string, options metav1.ListOptions) (watch.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[string]*watch.FakeWatcher{}
	}
	w := watch.NewFake()
	c.open[strings.TrimSpace(of.Resource+" "+namespace+options.LabelSelector)] = w
	return w, nil
}

// of returns the watch with a name.
func (c *changes) of(t *testing.T, name string) *watch.FakeWatcher {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[name] == nil {
		t.Fatalf("%s are not watched", name)
	}
	return c.open[name]
}

func object(namespace, name string, labels map[string]string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: "7", Labels: labels}}
}

// Watched results are cached for longer, until a change.
func TestChangeEndsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c, from := &cluster{pods: 1}, &changes{}
		r := New(ctx, c, from)
		demo, other := pods, pods
		demo.Namespace, other.Namespace = "demo", "other"
		read := func() {
			for _, q := range []readers.Query{pods, demo, other} {
				list(t, r, q)
			}
		}
		read()
		w := from.of(t, "pods")
		read() // results from before the start of the watch may be stale
		c.took()
		time.Sleep(keepWatched - time.Second)
		read()
		expect(t, c)
		version := r.Version()
		w.Modify(object("demo", "x", nil))
		synctest.Wait()
		if r.Version() == version {
			t.Error("the version stays")
		}
		read()
		expect(t, c, "list pods in all namespaces limit=0", "list pods in namespace demo limit=0")
		time.Sleep(keepWatched)
		read()
		if got := c.took(); len(got) != 3 {
			t.Errorf("after the longest time: asked %q", got)
		}
	})
}

// A change during a read is not lost.
func TestChangeDuringRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c, from := &cluster{pods: 1}, &changes{}
		r := New(ctx, c, from)
		list(t, r, pods)
		w := from.of(t, "pods")
		c.set(func() { c.takes = time.Second })
		go func() { _, _ = r.List(ctx, pods) }()
		time.Sleep(time.Millisecond)
		c.set(func() { c.pods = 2 })
		w.Add(object("demo", "x", nil))
		synctest.Wait()
		if got := list(t, r, pods); len(got) != 2 {
			t.Errorf("%d pods after a second was created", len(got))
		}
	})
}

// Without permission for all namespaces, a single one is watched. Without any, or when a watch
// breaks, results expire soon.
func TestRefusedWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c, from := &cluster{pods: 1}, &changes{refuses: []string{"", "other"}}
		r := New(ctx, c, from)
		demo, other := pods, pods
		demo.Namespace, demo.Labels, other.Namespace = "demo", "app=web", "other"
		read := func() {
			for _, q := range []readers.Query{demo, other} {
				list(t, r, q)
				synctest.Wait()
			}
		}
		read()
		time.Sleep(keepUnwatched)
		read()
		w := from.of(t, "pods demoapp=web")
		read()
		c.took()
		time.Sleep(keepUnwatched)
		read()
		expect(t, c, "list pods in namespace other limit=0")
		w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired})
		synctest.Wait()
		read()
		expect(t, c, "list pods in namespace demo app=web limit=0")
		time.Sleep(afterFailure)
		from.of(t, "pods demoapp=web")
		time.Sleep(afterRefusal)
		from.mu.Lock()
		from.refuses = nil
		from.mu.Unlock()
		list(t, r, other)
		from.of(t, "pods")
	})
}

// Secrets, ConfigMaps and Events are not watched.
func TestNotWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := &changes{}
		r := New(t.Context(), &cluster{}, from)
		for of := range unwatchable {
			list(t, r, readers.Query{GroupVersionResource: of})
		}
		synctest.Wait()
		if from.now != 0 {
			t.Errorf("%d watches", from.now)
		}
	})
}

// Listeners are notified after the cached results were invalidated; pending changes of one object
// are merged.
func TestFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c, from := &cluster{}, &changes{}
		r := New(ctx, c, from)
		kinds := []schema.GroupVersionResource{catalog.Prometheus.GroupVersionResource(), catalog.ServiceMonitor.GroupVersionResource(), readers.Pods, readers.StatefulSets, readers.Namespaces}
		for _, of := range kinds {
			list(t, r, readers.Query{GroupVersionResource: of})
		}
		var changes []string
		done := make(chan error, 1)
		go func() {
			done <- r.Changes(ctx, func(c readers.Change) { changes = append(changes, string(c.Kind)+" "+c.Object.String()) })
		}()
		of := func(app, instance string) map[string]string {
			return map[string]string{wellknown.LabelAppManagedBy: wellknown.ManagedBy, wellknown.LabelAppName: app, wellknown.LabelAppInstance: instance}
		}
		from.of(t, "prometheuses").Modify(object("demo", "main", nil))
		for range 3 {
			from.of(t, "servicemonitors").Modify(object("demo", "web", nil))
		}
		from.of(t, "pods").Add(object("demo", "prometheus-main-0", of("prometheus", "main")))
		from.of(t, "pods").Add(object("demo", "prom-agent-edge-0", of("prometheus-agent", "edge")))
		from.of(t, "pods").Add(object("demo", "web-0", map[string]string{wellknown.LabelAppName: "prometheus"}))
		from.of(t, "statefulsets").Delete(object("demo", "thanos-ruler-r", of("thanos-ruler", "r")))
		from.of(t, "namespaces").Modify(object("", "demo", nil))
		time.Sleep(time.Second)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Changes = %v", err)
		}
		slices.Sort(changes)
		ref := func(kind, name string) string { return catalog.Ref{Kind: kind, Namespace: "demo", Name: name}.String() }
		want := []string{
			"object " + ref("ServiceMonitor", "web"), "workload " + ref("Prometheus", "main"), "rollout " + ref("Prometheus", "main"),
			"rollout " + ref("PrometheusAgent", "edge"), "rollout " + ref("ThanosRuler", "r"),
		}
		slices.Sort(want)
		if !slices.Equal(changes, want) {
			t.Errorf("changes %q, want %q", changes, want)
		}
	})
}
