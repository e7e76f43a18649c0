package engine

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestAPermissionThatIsLost: while a kind may not be read any more, workloads that select it keep what was read, their own
// changes are written, and the condition names the kind; also if only watches are forbidden. A refusal of a moment is none.
func TestAPermissionThatIsLost(t *testing.T) {
	for _, verbs := range []string{"list watch", "watch"} {
		t.Run(verbs, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.set(rule("alerts"))
				b.set(&v1.Probe{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "early", Generation: 1}})
				b.set(ruler("a"))
				b.set(ruler("none", func(w *v1.ThanosRuler) { w.Spec.RuleSelector = nil }))
				b.start(nil, f)
				var refused atomic.Bool
				b.answers(func(c call) *metav1.Status {
					if refused.Load() && c.resource == "probes" && strings.Contains(verbs, c.verb) {
						return &metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "probes is forbidden: no"}
					}
					return nil
				})
				refused.Store(true)
				b.lose(func() {})
				time.Sleep(readsTwice)
				refused.Store(false)
				b.after(2 * pollPeriod)
				if got := b.condition("a", v1.Reconciled); got != "True" {
					t.Errorf("refused for a moment: %s", got)
				}
				refused.Store(true)
				b.lose(func() {})
				b.after(2 * pollPeriod)
				want := "False PermissionMissing Probes cannot be read any more, so their changes have no effect: probes is forbidden: no"
				if got := b.condition("a", v1.Reconciled); got != want {
					t.Errorf("%s\nwant %s", got, want)
				}
				if got := b.condition("none", v1.Reconciled); !strings.HasPrefix(got, "True") {
					t.Errorf("a workload that selects nothing: %s", got)
				}
				edit(b, "thanosrulers", "a", func(*v1.ThanosRuler) {})
				b.settle()
				if got := b.config("ruler-a-config"); got != "alerts early" || templateOf(b).Labels["generation"] != "2" {
					t.Errorf("configuration %q, template of generation %s", got, templateOf(b).Labels["generation"])
				}
				refused.Store(false)
				b.after(3 * pollPeriod)
				if got := b.condition("a", v1.Reconciled); got != "True" {
					t.Errorf("with the permission: %s", got)
				}
			})
		})
	}
}

// readsTwice is a time in which reflectors try again, shorter than it takes to be noticed.
const readsTwice = 3 * time.Second
