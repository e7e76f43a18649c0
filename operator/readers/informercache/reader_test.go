package informercache

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// cache is a fake cache of some namespaces; nil for all.
type cache struct {
	objects    []readers.Object
	namespaces []string
}

func (c cache) Covers(namespace string) bool {
	return c.namespaces == nil || slices.Contains(c.namespaces, namespace)
}

func (c cache) Object(namespace, name string) (catalog.Object, bool) {
	for _, o := range c.objects {
		if o.GetNamespace() == namespace && o.GetName() == name {
			return o, true
		}
	}
	return nil, false
}

func (c cache) Objects(namespace string) iter.Seq[catalog.Object] {
	return func(yield func(catalog.Object) bool) {
		for _, o := range c.objects {
			if (namespace == "" || o.GetNamespace() == namespace) && !yield(o) {
				return
			}
		}
	}
}

// controller is a fake controller.
type controller struct {
	caches map[schema.GroupVersionResource][]engine.Cached
	values assets.Static
	loaded string
}

func (c *controller) Caches(of schema.GroupVersionResource) []engine.Cached { return c.caches[of] }
func (c *controller) Loaded(types.NamespacedName) delivery.Loaded {
	return delivery.Loaded{Hash: c.loaded}
}
func (c *controller) Timeline(types.NamespacedName) []timeline.Change {
	return []timeline.Change{{Hash: c.loaded}}
}
func (c *controller) References() (assets.Reader, uint64) { return &c.values, 0 }

func meta(namespace, name string, labels ...string) metav1.ObjectMeta {
	out := metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}}
	for _, l := range labels {
		out.Labels[l] = "yes"
	}
	return out
}

// filled returns the controller of Prometheus in the namespaces demo and prod.
func filled() *controller {
	both := []string{"demo", "prod"}
	secret := &corev1.Secret{ObjectMeta: meta("demo", "prometheus-main"), Data: map[string][]byte{"a": []byte("s3cret")}, StringData: map[string]string{"a": "s3cret"}}
	secret.Annotations = map[string]string{"note": "s3cret"}
	in := func(objects ...readers.Object) []engine.Cached { return []engine.Cached{cache{objects, both}} }
	return &controller{caches: map[schema.GroupVersionResource][]engine.Cached{
		catalog.Prometheus.GroupVersionResource():     in(&v1.Prometheus{ObjectMeta: meta("demo", "main")}),
		catalog.ServiceMonitor.GroupVersionResource(): in(&v1.ServiceMonitor{ObjectMeta: meta("demo", "db")}, &v1.ServiceMonitor{ObjectMeta: meta("prod", "web", "app")}),
		readers.Namespaces:                            {cache{objects: []readers.Object{&corev1.Namespace{ObjectMeta: meta("", "demo")}}}},
		readers.Pods:                                  in(&corev1.Pod{ObjectMeta: meta("demo", "prometheus-main-0")}),
		readers.Secrets:                               in(secret),
		readers.StatefulSets:                          in(&appsv1.StatefulSet{ObjectMeta: meta("demo", "prometheus-main")}),
	}}
}

func list(t *testing.T, c *Cluster, q readers.Query) (string, error) {
	t.Helper()
	all, err := c.List(t.Context(), q)
	var names []string
	for _, o := range all {
		names = append(names, o.GetNamespace()+"/"+o.GetName())
	}
	return strings.Join(names, " "), err
}

func TestWhatIsInTheCaches(t *testing.T) {
	c := New()
	c.Add(catalog.Prometheus, filled())
	monitors := readers.Query{GroupVersionResource: catalog.ServiceMonitor.GroupVersionResource()}
	for want, change := range map[string]func(*readers.Query){
		"demo/db prod/web": func(*readers.Query) {},
		"demo/db":          func(q *readers.Query) { q.Namespace = "demo" },
		"prod/web":         func(q *readers.Query) { q.Labels = "app=yes" },
		"":                 func(q *readers.Query) { q.Name = "none" },
	} {
		q := monitors
		change(&q)
		if got, err := list(t, c, q); err != nil || got != want {
			t.Errorf("%+v: %q %v, want %q", q, got, err, want)
		}
	}
	for _, tc := range []struct {
		of              schema.GroupVersionResource
		namespace, name string
	}{{catalog.Prometheus.GroupVersionResource(), "demo", "main"}, {readers.Namespaces, "", "demo"}, {readers.Pods, "demo", "prometheus-main-0"}, {readers.StatefulSets, "demo", "prometheus-main"}} {
		if o, err := c.Get(t.Context(), tc.of, types.NamespacedName{Namespace: tc.namespace, Name: tc.name}); err != nil || o.GetName() != tc.name {
			t.Errorf("%v: %v %v", tc, o, err)
		}
	}
}

// Loaded and Timeline return what the controller of the workload's own kind reports.
func TestWhatPodsRun(t *testing.T) {
	c, of, other := New(), filled(), filled()
	of.loaded, other.loaded = "abc", "def"
	c.Add(catalog.Alertmanager, other)
	c.Add(catalog.Prometheus, of)
	pod := types.NamespacedName{Namespace: "demo", Name: "prometheus-main-0"}
	if got := c.Loaded(catalog.Prometheus, pod); got.Hash != "abc" {
		t.Errorf("Loaded = %+v, want abc", got)
	}
	main := types.NamespacedName{Namespace: "demo", Name: "main"}
	if got := c.Timeline(catalog.Prometheus, main); len(got) != 1 || got[0].Hash != "abc" {
		t.Errorf("Timeline = %+v, want that of the controller of Prometheus", got)
	}
	if got := c.Timeline(catalog.ThanosRuler, main); got != nil {
		t.Errorf("without a controller: %+v", got)
	}
	if got := c.Loaded(catalog.ThanosRuler, pod); got != (delivery.Loaded{}) {
		t.Errorf("without a controller: %+v", got)
	}
}

// A read beyond the caches is an error with a reason, and never an empty result.
func TestWhatIsNotKnown(t *testing.T) {
	c := New()
	monitors, agents := catalog.ServiceMonitor.GroupVersionResource(), catalog.PrometheusAgent.GroupVersionResource()
	check := func(of schema.GroupVersionResource, namespace, name, want string) {
		t.Helper()
		var err error
		if name == "" {
			_, err = list(t, c, readers.Query{GroupVersionResource: of, Namespace: namespace})
		} else {
			_, err = c.Get(t.Context(), of, types.NamespacedName{Namespace: namespace, Name: name})
		}
		if err == nil || !strings.Contains(err.Error(), want) || apierrors.IsNotFound(err) != (want == "not found") || want != "not found" && !apierrors.IsServiceUnavailable(err) {
			t.Errorf("%s in %q %q: %v, want %s", of.Resource, namespace, name, err, want)
		}
	}
	check(monitors, "", "", "no controller of the operator has started")
	check(agents, "", "", "does not watch prometheusagents: its controller has not started")
	if _, err := c.References(t.Context()).Object(assets.Ref{Namespace: "demo", Name: "a"}); err == nil || assets.IsNotFound(err) {
		t.Errorf("a reference before the start: %v", err)
	}
	c.Add(catalog.Prometheus, filled())
	check(agents, "", "", "does not watch prometheusagents: its controller has not started")
	check(catalog.ScrapeConfig.GroupVersionResource(), "", "", "does not watch scrapeconfigs: the CRD is not installed, or")
	check(monitors, "other", "", "does not watch servicemonitors.monitoring.coreos.com in namespace other")
	check(monitors, "other", "web", "does not watch servicemonitors.monitoring.coreos.com in namespace other")
	check(monitors, "demo", "none", "not found")
	check(readers.StatefulSets, "demo", "none", "not found")
	check(readers.Pods, "demo", "web-0", "which has those of workloads only")
	check(readers.Secrets, "demo", "token", "which has those of workloads only")
	check(readers.Services, "", "", "does not keep services in its caches")
	check(readers.Nodes, "", "a", "does not keep nodes in its caches")
}

// Readers see only the metadata of a Secret.
func TestSecretsHaveNoValues(t *testing.T) {
	c, of := New(), filled()
	c.Add(catalog.Prometheus, of)
	o, err := c.Get(t.Context(), readers.Secrets, types.NamespacedName{Namespace: "demo", Name: "prometheus-main"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.List(t.Context(), readers.Query{GroupVersionResource: readers.Secrets})
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if text := fmt.Sprintf("%+v %+v", o, all[0]); strings.Contains(text, "s3cret") || strings.Contains(text, "115 51 99") {
		t.Error(text)
	}
}

// Controllers of several kinds may have the same cache, or caches of different objects.
func TestSeveralControllers(t *testing.T) {
	c, one, other := New(), filled(), filled()
	other.caches[readers.StatefulSets] = []engine.Cached{cache{objects: []readers.Object{&appsv1.StatefulSet{ObjectMeta: meta("demo", "alertmanager-main")}}}}
	c.Add(catalog.Prometheus, one)
	c.Add(catalog.Alertmanager, other)
	for of, want := range map[schema.GroupVersionResource]string{
		readers.StatefulSets: "demo/alertmanager-main demo/prometheus-main", readers.Pods: "demo/prometheus-main-0",
		catalog.ServiceMonitor.GroupVersionResource(): "demo/db prod/web",
	} {
		if got, err := list(t, c, readers.Query{GroupVersionResource: of}); err != nil || got != want {
			t.Errorf("%s: %q %v", of.Resource, got, err)
		}
	}
	one.values.AddSecret(&corev1.Secret{ObjectMeta: meta("demo", "token"), Data: map[string][]byte{"t": []byte("x")}})
	if o, err := c.References(t.Context()).Object(assets.Ref{Namespace: "demo", Name: "token"}); err != nil || string(o.Values["t"]) != "x" {
		t.Error(o, err)
	}
}

// TestPackedObjects: readers get whole objects, unless they say that they unpack them themselves.
func TestPackedObjects(t *testing.T) {
	packed := &v1.ServiceMonitor{}
	text := `{"metadata":{"namespace":"shop","name":"cart"},"spec":{"jobLabel":"app.kubernetes.io/name","selector":{},"endpoints":[{"port":"http-metrics"}]}}`
	if err := manifest.DecodePacked([]byte(text), packed); err != nil || packed.Packed == "" {
		t.Fatalf("not packed: %v", err)
	}
	of := catalog.ServiceMonitor.GroupVersionResource()
	c := New()
	c.Add(catalog.Prometheus, &controller{caches: map[schema.GroupVersionResource][]engine.Cached{of: {cache{objects: []readers.Object{packed}}}}})
	whole := func(o readers.Object) bool { return len(o.(*v1.ServiceMonitor).Spec.Endpoints) == 1 }
	if got, err := c.Get(t.Context(), of, types.NamespacedName{Namespace: "shop", Name: "cart"}); err != nil || !whole(got) {
		t.Errorf("got %+v, %v", got, err)
	}
	q := readers.Query{GroupVersionResource: of, Keep: func(o readers.Object) readers.Object {
		if !whole(o) {
			t.Error("a packed object is offered to be kept")
		}
		return o
	}}
	if got, err := c.List(t.Context(), q); err != nil || len(got) != 1 || !whole(got[0]) {
		t.Errorf("listed %+v, %v", got, err)
	}
	q.Keep, q.Packed = nil, true
	if got, err := c.List(t.Context(), q); err != nil || len(got) != 1 || got[0] != readers.Object(packed) {
		t.Errorf("listed %+v, %v", got, err)
	}
}
