package cached

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/insight"
	"github.com/firekeeper-dev/firekeeper/operator/online"
)

// Many changes of one object are one piece of news, and a listener that takes its time holds
// up nobody.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		ctx, cancel := context.WithCancel(t.Context())
		slow := make(chan struct{})
		got := map[insight.Change]int{}
		go func() { _ = c.Changes(ctx, func(change insight.Change) { got[change]++ }) }()
		go func() { _ = c.Changes(ctx, func(insight.Change) { <-slow }) }()
		synctest.Wait()
		before := c.Version()
		key := types.NamespacedName{Namespace: "demo", Name: "main"}
		for range 3 {
			for range 1000 {
				c.Changed(engine.Change{About: engine.AboutPods, Kind: "Prometheus", NamespacedName: key})
			}
			time.Sleep(feedPause)
			synctest.Wait()
		}
		c.Changed(engine.Change{About: engine.AboutOther})
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) != 1 || got[insight.Change{Kind: insight.RolloutChanged, Object: explain.Ref{Kind: "Prometheus", Namespace: "demo", Name: "main"}}] != 3 {
			t.Errorf("told %v", got)
		}
		if c.Version() == before {
			t.Error("the version stays")
		}
		if c.Version() != c.Version() {
			t.Error("the version changes without a change")
		}
		close(slow)
		cancel()
		synctest.Wait()
		if len(c.feed.listeners) != 0 {
			t.Error("a listener stays")
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
	all := c.Events.list(online.Query{Namespace: "web"})
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
	if all := c.Events.list(online.Query{}); len(all) != maxEventsOfEach || all[0].(*corev1.Event).Message != "attempt 80" {
		t.Errorf("%d Events of a workload", len(all))
	}
	for n := range 3000 {
		send(fmt.Sprint("w", n), "a", n)
	}
	if all := c.Events.list(online.Query{}); len(all) != maxEvents {
		t.Errorf("%d Events", len(all))
	}
	if all := c.Events.list(online.Query{Namespace: "demo"}); len(all) != 0 {
		t.Errorf("%d Events in another namespace", len(all))
	}
}
