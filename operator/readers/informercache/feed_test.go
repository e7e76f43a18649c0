package informercache

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// A change in the caches notifies listeners and changes the version.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := map[readers.Change]int{}
		go func() { _ = c.Changes(ctx, func(change readers.Change) { got[change]++ }) }()
		synctest.Wait()
		key := types.NamespacedName{Namespace: "demo", Name: "main"}
		for about, kind := range map[engine.ChangeAbout]readers.ChangeKind{
			engine.AboutWorkload: readers.WorkloadChanged, engine.AboutConfig: readers.ObjectChanged, engine.AboutPods: readers.RolloutChanged, engine.AboutOther: "",
		} {
			clear(got)
			before := c.Version()
			if before != c.Version() {
				t.Error("the version changes without a change")
			}
			for range 1000 {
				c.Changed(engine.Change{About: about, Kind: "Prometheus", NamespacedName: key})
			}
			time.Sleep(time.Second)
			synctest.Wait()
			change := readers.Change{Kind: kind, Object: catalog.Ref{Kind: "Prometheus", Namespace: "demo", Name: "main"}}
			if told := got[change]; (told > 0) != (kind != "") || told > 2 || len(got) > 1 {
				t.Errorf("%q: told %v", kind, got)
			}
			if c.Version() == before {
				t.Errorf("%q: the version stays", kind)
			}
		}
	})
}

func TestEventsAreBounded(t *testing.T) {
	c := New()
	r := c.Events.Recorder("prometheus-controller", nil)
	before := c.Version()
	send := func(workload, object string, n int) {
		w := &v1.Prometheus{ObjectMeta: meta("demo", workload)}
		m := &v1.ServiceMonitor{ObjectMeta: meta("web", object)}
		r.Eventf(m, w, corev1.EventTypeWarning, "InvalidConfiguration", "Selecting", "attempt %d", n)
	}
	for range 3 {
		send("main", "a", 0)
	}
	all := c.Events.list(readers.Query{Namespace: "web"})
	if len(all) != 1 || c.Version() == before {
		t.Fatalf("%d Events", len(all))
	}
	e := all[0].(*corev1.Event)
	if e.Count != 3 || e.InvolvedObject.Kind != "ServiceMonitor" || e.InvolvedObject.Name != "a" || e.Related.Kind != "Prometheus" || e.Message != "attempt 0" || e.LastTimestamp.IsZero() {
		t.Errorf("%+v", e)
	}
	for n := range 100 {
		send("main", fmt.Sprint("m", n), n)
	}
	if all := c.Events.list(readers.Query{}); len(all) != maxEventsOfEach || all[0].(*corev1.Event).Message != "attempt 80" {
		t.Errorf("%d Events of a workload", len(all))
	}
	for n := range 3000 {
		send(fmt.Sprint("w", n), "a", n)
	}
	if all := c.Events.list(readers.Query{}); len(all) != maxEvents {
		t.Errorf("%d Events", len(all))
	}
	if all := c.Events.list(readers.Query{Namespace: "demo"}); len(all) != 0 {
		t.Errorf("%d Events in another namespace", len(all))
	}
}
