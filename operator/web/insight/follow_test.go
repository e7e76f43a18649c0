package insight_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// versioned is a store with a version.
type versioned struct {
	*store
	version int
}

// Version implements [readers.Versioned].
func (v *versioned) Version() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strconv.Itoa(v.version)
}

func (v *versioned) change() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.version++
}

// clock is a fake clock.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func kept(r readers.Reader, c *clock) *insight.Cluster {
	kinds, _ := setups()
	return insight.New(insight.Parts{Reader: r, Setups: kinds, Fresh: setups, Now: c.now})
}

var page = insight.Page{Limit: 1000}

// The cluster is reread only after a change.
func TestReadsOnlyWhatChanged(t *testing.T) {
	s, c := &versioned{loaded(t, cluster(1, 1)), 1}, &clock{at: now}
	a := kept(s, c)
	ask := func() int {
		t.Helper()
		if _, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page}); err != nil {
			t.Fatal(err)
		}
		return s.lists
	}
	first := ask()
	c.pass(time.Hour)
	if again := ask(); again != first {
		t.Errorf("%d lists, after an hour without changes %d", first, again)
	}
	s.change()
	if again := ask(); again == first {
		t.Error("nothing was read after a change")
	}
}

// A different order of pods in a cache is not a change.
func TestOrderOfPods(t *testing.T) {
	s, c := &versioned{loaded(t, cluster(1, 1)), 1}, &clock{at: now}
	for _, name := range []string{"prometheus-p0-0", "prometheus-p0-1"} {
		s.put(readers.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns0", Name: name, UID: types.UID(name), ResourceVersion: "1", Labels: map[string]string{
			"app.kubernetes.io/managed-by": "prometheus-operator", "app.kubernetes.io/name": "prometheus",
			"operator.prometheus.io/name": "p0", "app.kubernetes.io/instance": "p0", "prometheus": "p0",
		}}})
	}
	kinds, _ := setups()
	made := 0
	for i := range kinds {
		kind := *kinds[i].Kind
		open := kind.Open
		kind.Open = func(key types.NamespacedName) engine.Gatherer { return counting{open(key), &made} }
		kinds[i].Kind = &kind
	}
	a := insight.New(insight.Parts{Reader: s, Setups: kinds, Fresh: setups, Now: c.now})
	for range 5 {
		overview, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
		if err != nil || overview.Workloads[0].Pods != 2 {
			t.Fatalf("got %+v, %v", overview, err)
		}
		slices.Reverse(s.objects[readers.Pods])
		s.change()
		c.pass(time.Minute)
	}
	if made != 1 {
		t.Errorf("the workload was looked at %d times", made)
	}
}

// counting counts how often a workload is compiled.
type counting struct {
	engine.Gatherer
	made *int
}

// Gather implements [engine.Gatherer].
func (c counting) Gather(w v1.Workload, in engine.Cluster) (engine.Inputs, error) {
	*c.made++
	return c.Gatherer.Gather(w, in)
}

// cluster returns workloads in one namespace each, and monitors distributed among them.
func cluster(workloads, monitors int) []byte {
	var out []byte
	for i := range workloads {
		out = fmt.Appendf(out, `---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: p%d, namespace: ns%[1]d, uid: p%[1]d, resourceVersion: "1", generation: 1}
spec: {serviceMonitorSelector: {matchLabels: {team: t%[1]d}}, serviceMonitorNamespaceSelector: {}}
status: {conditions: [{type: Reconciled, status: "True", lastTransitionTime: "2026-03-01T10:00:00Z"}]}
`, i)
	}
	for i := range monitors {
		out = fmt.Appendf(out, `---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: m%d, namespace: ns%d, uid: m%[1]d, resourceVersion: "1", generation: 1, labels: {team: t%d}}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: http, interval: 10s}]}
`, i, i%max(1, workloads), i%max(1, workloads))
	}
	return out
}

// snapshot is a cluster that changes at random.
type snapshot struct {
	*versioned
	rand *rand.Rand
	n    int
}

func (w *snapshot) meta(namespace, name string, set map[string]string) metav1.ObjectMeta {
	w.n++
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), ResourceVersion: strconv.Itoa(w.n), Generation: int64(w.n), Labels: set}
}

func (w *snapshot) one(of ...string) string { return of[w.rand.IntN(len(of))] }

// step makes a random change.
func (w *snapshot) step() {
	namespace := w.one("a", "b")
	switch w.rand.IntN(6) {
	case 0: // a monitor, maybe invalid
		m := &v1.ServiceMonitor{ObjectMeta: w.meta(namespace, w.one("x", "y", "z"), map[string]string{"team": w.one("1", "2")})}
		m.Spec.Endpoints = []v1.Endpoint{{Port: "http"}}
		if w.rand.IntN(3) == 0 {
			m.Spec.Endpoints[0].BasicAuth = &v1.BasicAuth{
				Username: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: w.one("user", "none")},
				Password: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: "pass"},
			}
		}
		w.put(catalog.ServiceMonitor.GroupVersionResource(), m)
	case 1: // a workload
		p := &v1.Prometheus{ObjectMeta: w.meta(namespace, w.one("p", "q"), nil)}
		p.Spec.ServiceMonitorSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": w.one("1", "2")}}
		if w.rand.IntN(2) == 0 {
			p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": w.one("x", "y")}}
		}
		w.put(catalog.Prometheus.GroupVersionResource(), p)
	case 2: // labels of a namespace
		n := &corev1.Namespace{ObjectMeta: w.meta("", namespace, map[string]string{"tier": w.one("x", "y")})}
		w.put(readers.Namespaces, n)
	case 3: // a Secret
		s := &corev1.Secret{ObjectMeta: w.meta(namespace, "login", nil), Data: map[string][]byte{w.one("user", "other"): []byte("u"), "pass": []byte("p")}}
		w.references.(*assets.Static).AddSecret(s)
	case 4: // a pod
		pod := &corev1.Pod{ObjectMeta: w.meta(namespace, w.one("prometheus-p-0", "prometheus-q-0"), map[string]string{
			"app.kubernetes.io/managed-by": "prometheus-operator", "app.kubernetes.io/name": "prometheus",
			"operator.prometheus.io/name": w.one("p", "q"), "app.kubernetes.io/instance": w.one("p", "q"), "prometheus": w.one("p", "q"),
		})}
		w.put(readers.Pods, pod)
	case 5: // a deletion
		w.mu.Lock()
		of := catalog.ServiceMonitor.GroupVersionResource()
		if w.rand.IntN(3) == 0 {
			of = catalog.Prometheus.GroupVersionResource()
		}
		if all := w.objects[of]; len(all) > 0 {
			i := w.rand.IntN(len(all))
			w.objects[of] = slices.Delete(slices.Clone(all), i, i+1)
		}
		w.mu.Unlock()
	}
	w.change()
}

// history ignores the time of a response, and changes that happened before a new Cluster was created.
var history = cmp.Options{cmpopts.IgnoreFields(insight.Overview{}, "AsOf"), cmpopts.IgnoreFields(insight.Workload{}, "Changes")}

// After any change, responses are the same as those of a new Cluster, except for its history.
func TestFollowsChanges(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &snapshot{versioned: &versioned{loaded(t, cluster(1, 1)), 1}, rand: rand.New(rand.NewPCG(seed, 1))}
			c := &clock{at: now}
			a := kept(w, c)
			rejected := 0
			for i := range 150 {
				w.step()
				c.pass(time.Minute)
				got, want := everythingOf(t, a, w), everythingOf(t, kept(w, &clock{at: now}), w)
				if diff := cmp.Diff(want, got, history); diff != "" {
					t.Fatalf("after %d changes (-new +kept):\n%s", i+1, diff)
				}
				for _, call := range got["overview"].(*insight.Overview).Attention {
					if call.Cause == insight.RejectedObject {
						rejected++
					}
				}
			}
			if rejected == 0 {
				t.Error("nothing was ever rejected: the test looks at too little")
			}
		})
	}
}

// Namespace selectors are reevaluated once the labels of Namespaces can be read, even for
// Namespaces without additional labels.
func TestNamespacesBecomeKnown(t *testing.T) {
	w, c := &snapshot{versioned: &versioned{loaded(t, cluster(1, 1)), 1}}, &clock{at: now}
	p := w.objects[catalog.Prometheus.GroupVersionResource()][0].(*v1.Prometheus)
	p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	a := kept(w, c)
	for i, refuses := range [][]string{{"namespaces"}, nil, {"namespaces"}} {
		w.refuses = refuses
		w.change()
		c.pass(time.Minute)
		got, want := everythingOf(t, a, w), everythingOf(t, kept(w, c), w)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %d changes (-new +kept):\n%s", i, diff)
		}
		if accepted := got["overview"].(*insight.Overview).Workloads[0].Accepted; accepted != i%2 {
			t.Errorf("after %d changes: %d are accepted", i, accepted)
		}
	}
}

// everythingOf returns the overview and the sources of all workloads.
func everythingOf(t *testing.T, a insight.Answers, w *snapshot) map[string]any {
	t.Helper()
	overview, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
	if err != nil {
		t.Fatal(err)
	}
	for i := range overview.Workloads {
		overview.Workloads[i].ConfigSince = time.Time{} // a new Cluster has not observed changes
	}
	out := map[string]any{"overview": overview}
	for _, row := range overview.Workloads {
		o := insight.Object{Row: catalog.Prometheus, NamespacedName: types.NamespacedName{Namespace: row.Namespace, Name: row.Name}}
		if out[row.Ref.String()], err = a.Sources(t.Context(), everything, o, insight.SourceQuery{Page: page}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Concurrent requests are safe while the cluster changes.
func TestConcurrentRequestsDuringChanges(t *testing.T) {
	w := &snapshot{versioned: &versioned{loaded(t, cluster(3, 9)), 1}, rand: rand.New(rand.NewPCG(1, 1))}
	w.references = &lockedReferences{Reader: w.references}
	c := &clock{at: now}
	a := kept(w, c)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 30 {
				overview, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
				if err != nil {
					t.Error(err)
					return
				}
				for _, row := range overview.Workloads {
					o := insight.Object{Row: catalog.Prometheus, NamespacedName: types.NamespacedName{Namespace: row.Namespace, Name: row.Name}}
					_, _ = a.Sources(t.Context(), everything, o, insight.SourceQuery{Page: page})
					_, _ = a.Workload(t.Context(), everything, o)
					_, _ = a.Explain(t.Context(), everything, insight.Object{Row: catalog.ServiceMonitor, NamespacedName: types.NamespacedName{Namespace: "ns1", Name: "x"}})
					_, _ = a.Config(t.Context(), everything, o, insight.ConfigQuery{Page: page})
				}
			}
		})
	}
	for range 30 {
		m := &v1.ServiceMonitor{ObjectMeta: w.meta("ns1", w.one("x", "y"), map[string]string{"team": w.one("t1", "t2")})}
		w.put(catalog.ServiceMonitor.GroupVersionResource(), m)
		w.change()
		c.pass(time.Second)
	}
	group.Wait()
}

// lockedReferences can be read concurrently.
type lockedReferences struct {
	mu sync.Mutex
	assets.Reader
}

// Object implements [assets.Reader].
func (l *lockedReferences) Object(ref assets.Ref) (assets.Object, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Reader.Object(ref)
}
