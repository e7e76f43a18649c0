package engine

import (
	"slices"
	"testing"
	"time"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// The content of a workload is written first, then the objects that run its pods. Afterwards
// nothing is written and no request is sent.
func TestAWorkloadIsReconciled(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("alerts"))
		b.set(ruler("a"))
		b.start(nil, f)
		want := []string{
			"create secrets team/ruler-a-config", "create secrets team/ruler-a-web", "create services team/operated", "create statefulsets team/ruler-a",
		}
		if got := b.written(); !slices.Equal(got, want) {
			t.Errorf("wrote %q", got)
		}
		if got := b.config("ruler-a-config"); got != "alerts" {
			t.Errorf("configuration %q", got)
		}
		if got := b.condition("a", v1.Reconciled); got != "True" {
			t.Errorf("Reconciled %s", got)
		}
		if got := b.bound("alerts"); got != "thanosrulers/a=True" {
			t.Errorf("bindings %q", got)
		}
		b.written("")
		b.after(time.Hour)
		if got := b.written(""); len(got) > 0 {
			t.Errorf("an hour later: wrote %q", got)
		}
	})
}
