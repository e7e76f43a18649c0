package insight_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// closing counts open gatherers.
type closing struct {
	engine.Gatherer
	open *atomic.Int32
}

// Close implements [engine.Gatherer].
func (c closing) Close() {
	c.open.Add(-1)
	c.Gatherer.Close()
}

// watchedSetups returns setups that count open gatherers and record deleted objects.
func watchedSetups(open *atomic.Int32, gone *[]string) []engine.Setup {
	kinds, _ := setups()
	for i := range kinds {
		kind := *kinds[i].Kind
		opens, goes := kind.Open, kind.Gone
		kind.Open = func(key types.NamespacedName) engine.Gatherer {
			open.Add(1)
			return closing{opens(key), open}
		}
		kind.Gone = func(of string, object types.NamespacedName) {
			*gone = append(*gone, kind.Kind+": "+of+" "+object.String())
			goes(of, object)
		}
		kinds[i].Kind = &kind
	}
	return kinds
}

// Compiled objects are evicted when they are deleted, and everything is evicted without requests
// for two minutes. Later responses are the same.
func TestNothingIsKeptThatNobodyNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int32
		var gone []string
		s := &versioned{loaded(t, cluster(2, 4)), 1}
		a := insight.New(insight.Parts{Reader: s, Setups: watchedSetups(&open, &gone)})
		if n, _ := accepted(t, a); n != 2 || open.Load() != 2 {
			t.Fatalf("%d are accepted, %d gatherers are open", n, open.Load())
		}
		of := catalog.ServiceMonitor.GroupVersionResource()
		s.objects[of] = slices.Clone(s.objects[of][1:])
		s.change()
		if n, _ := accepted(t, a); n != 1 || !slices.Equal(gone, []string{"Prometheus: ServiceMonitor ns0/m0", "PrometheusAgent: ServiceMonitor ns0/m0"}) {
			t.Errorf("%d are accepted, gone are %q", n, gone)
		}
		for range 3 {
			time.Sleep(9 * time.Minute)
			accepted(t, a)
		}
		if open.Load() != 2 {
			t.Errorf("%d gatherers are open while somebody asks", open.Load())
		}
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if open.Load() != 0 {
			t.Errorf("%d gatherers are open, and nobody asks", open.Load())
		}
		if n, _ := accepted(t, a); n != 1 || open.Load() != 2 {
			t.Errorf("after a rest, %d are accepted, %d gatherers are open", n, open.Load())
		}
	})
}

// The time of a configuration change is reported only if the cluster was read shortly before.
func TestConfigSince(t *testing.T) {
	s, c := &versioned{loaded(t, cluster(1, 1)), 1}, &clock{at: now}
	a := kept(s, c)
	wants := func(hash string) {
		s.put(readers.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns0", Name: "prometheus-p0-0", UID: "a", ResourceVersion: hash, Annotations: map[string]string{delivery.Annotation: hash},
			Labels: map[string]string{
				"app.kubernetes.io/managed-by": "prometheus-operator", "app.kubernetes.io/name": "prometheus",
				"operator.prometheus.io/name": "p0", "app.kubernetes.io/instance": "p0", "prometheus": "p0",
			},
		}})
		s.change()
	}
	since := func(when string, want time.Time) {
		t.Helper()
		overview, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
		if err != nil {
			t.Fatal(err)
		}
		if got := overview.Workloads[0].ConfigSince; !got.Equal(want) {
			t.Errorf("%s: since %s, want %s", when, got, want)
		}
	}
	wants("a")
	since("at first", time.Time{})
	c.pass(10 * time.Second)
	wants("b")
	since("a change that is seen", now.Add(10*time.Second))
	c.pass(time.Hour)
	since("nothing changed", now.Add(10*time.Second))
	c.pass(30 * time.Second)
	wants("c")
	since("shortly after somebody looked", now.Add(time.Hour+40*time.Second))
	c.pass(72 * time.Hour)
	wants("d")
	since("long after somebody looked", time.Time{})
}
