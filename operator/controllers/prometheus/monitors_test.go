package prometheus

import (
	"errors"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestMemoryOfOneChange bounds what a reconciliation allocates for each monitor that has not changed: the pointers to
// it in the selection and in the document, and its part of the compressed document.
func TestMemoryOfOneChange(t *testing.T) {
	budgettest.Exact(t)
	allocated := func(n int) int64 {
		services, alerts := serviceMonitors(n), []*v1.PrometheusRule(nil)
		b := benches(1, &services, &alerts)[0]
		for i := range 3 { // the first ones get the memory that the next ones use again
			changeMonitor(services, i)
			b.run(t)
		}
		least := int64(1 << 40) // other goroutines allocate, too
		for i := range 3 {
			changeMonitor(services, 3+i)
			least = min(least, budgettest.Allocated(func() { b.run(t) }))
		}
		return least
	}
	const few, many = 1000, 5000
	if each := (allocated(many) - allocated(few)) / (many - few); each > 100 {
		t.Errorf("a change allocates %d bytes for each other monitor", each)
	}
}

// TestLeftOutForOneReconciliation: a monitor that is left out because there is no room for it has its content again
// once there is.
func TestLeftOutForOneReconciliation(t *testing.T) {
	services := serviceMonitors(3)
	b := pass(&services)
	gather := func() *Inputs {
		in, err := b.gather(forServer(b.owner), b.cluster)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	full := errors.New("no room")
	in := gather()
	for m := range in.Monitors.All() {
		if m.Object.GetName() == services[1].Name {
			m.leaveOut(full)
		}
	}
	for m := range in.Monitors.All() {
		if left := m.Object.GetName() == services[1].Name; errors.Is(m.Err, full) != left {
			t.Errorf("%s: %v", m.Object.GetName(), m.Err)
		}
	}
	if n := len(in.document()) - len(gather().document()); n != -1 {
		t.Errorf("%d pieces fewer than in the next reconciliation, want 1", -n)
	}
	for m := range gather().Monitors.All() {
		if m.Err != nil {
			t.Errorf("%s is still left out: %v", m.Object.GetName(), m.Err)
		}
	}
}
