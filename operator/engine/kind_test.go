package engine

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

var now = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// named returns a kind of which only the names matter.
func named(row *catalog.Row, prefix string) *Kind {
	return &Kind{
		Row: row, Controller: prefix + "-controller", Label: prefix, Queue: prefix,
		Names: workload.Kind{
			Prefix: prefix, NameLabels: []string{"name"}, RuleLabel: "rules-of-" + prefix, OperatedLabel: "operated",
		},
		Open:     func(types.NamespacedName) Gatherer { return nil },
		ChargeTo: func(fragments.Charge) {},
		Shape: func(w v1.Workload) Shape {
			return Shape{Sets: []Set{{Name: prefix + "-" + w.GetName()}}, Replicas: ptr.Deref(w.GetWorkloadFields().Replicas, 1)}
		},
	}
}

// unwired returns a controller without stores, for tests that do not need them.
func unwired(t *testing.T, kind *Kind) *Controller {
	log, m := slog.New(slog.DiscardHandler), newMetrics(prometheus.NewRegistry(), kind.Label)
	c := &Controller{
		kind: kind, log: log, metrics: m, stores: &stores{Sources: &Sources{}}, memory: map[types.NamespacedName]*memory{},
		loop: newLoop(loopKind{Name: kind.Queue}, log, m), bindings: newBindingsQueue(), timeline: timeline.New(nil),
	}
	t.Cleanup(func() {
		ended, end := context.WithCancel(context.Background())
		end()
		c.loop.Run(ended, 1)
		c.runBindings(ended)
	})
	return c
}
