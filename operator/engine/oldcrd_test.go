package engine

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestStatusesWithAnOldCRD: a CRD without the status subresource, or without fields of it, is named once, everything else
// works, and the status is written soon after the CRD is replaced.
func TestStatusesWithAnOldCRD(t *testing.T) {
	for name, refusal := range map[string]*metav1.Status{
		"no subresource": {Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"},
		"no conditions":  {Code: http.StatusInternalServerError, Message: "failed to create typed patch object (team/a): .status.conditions: field not declared in schema"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				var old atomic.Bool
				old.Store(true)
				b.answers(func(c call) *metav1.Status {
					if old.Load() && c.resource == "thanosrulers" && c.sub == "status" {
						return refusal
					}
					return nil
				})
				b.set(rule("alerts"))
				b.set(ruler("a"))
				b.set(ruler("b"))
				b.start(nil, f)
				b.after(3 * pollPeriod)
				if n := strings.Count(b.log.String(), "statuses are not written"); n != 1 || strings.Contains(b.log.String(), "status update failed") {
					t.Errorf("logged %d times:\n%s", n, b.log)
				}
				if got := b.config("ruler-a-config"); got != "alerts" {
					t.Errorf("configuration %q", got)
				}
				old.Store(false)
				b.after(2 * pollPeriod)
				if got := b.condition("a", v1.Reconciled); got != "True" {
					t.Errorf("with the current CRD: %s", got)
				}
				old.Store(true)
				edit(b, "thanosrulers", "a", func(*v1.ThanosRuler) {})
				b.gone(ruler("b"))
				b.settle()
				if n := strings.Count(b.log.String(), "statuses are not written"); n != 2 {
					t.Errorf("logged %d times when it is replaced by an old one", n)
				}
			})
		})
	}
}

// TestStatusOfADeletedWorkload: a status that comes too late is no fault of the CRD.
func TestStatusOfADeletedWorkload(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("a"))
		b.start(nil, f)
		b.answers(func(c call) *metav1.Status {
			if c.resource == "thanosrulers" && c.sub == "status" {
				b.gone(ruler("a"))
				return failure(http.StatusNotFound, metav1.StatusReasonNotFound, c)
			}
			return nil
		})
		edit(b, "thanosrulers", "a", func(*v1.ThanosRuler) {})
		b.settle()
		if strings.Contains(b.log.String(), "statuses are not written") || strings.Contains(b.log.String(), "status update failed") {
			t.Errorf("log:\n%s", b.log)
		}
	})
}
