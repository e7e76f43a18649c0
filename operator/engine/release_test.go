package engine

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// denial is the answer of an API server one of whose webhooks denies a request. The webhook chooses the code.
func denial(code int32) *metav1.Status {
	return &metav1.Status{Code: code, Message: `admission webhook "policy.example" denied the request: rules need the label team`}
}

// isStatus reports whether a request writes the status of a rule object.
func (c call) isStatus() bool { return c.resource == "prometheusrules" && c.sub == "status" }

// A policy that refuses the update of one object keeps back neither the statuses of others nor the end of a deleted
// workload.
func TestDeniedBindings(t *testing.T) {
	const rules = 1000
	for _, code := range []int32{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				for i := range rules {
					b.set(rule(fmt.Sprintf("alerts-%03d", i)))
				}
				b.set(ruler("a"))
				var denied sync.Map
				denied.Store("alerts-000", true)
				b.answers(func(c call) *metav1.Status {
					if _, is := denied.Load(c.name); is && c.isStatus() {
						return denial(code)
					}
					time.Sleep(10 * time.Millisecond)
					return nil
				})
				b.start(nil, f)
				b.after(time.Minute)
				for i := 1; i < rules; i++ {
					if name := fmt.Sprintf("alerts-%03d", i); b.bound(name) == "" {
						t.Fatalf("%s has no binding", name)
					}
				}
				denied.Store("alerts-001", true)
				b.deleted(ruler("a"))
				b.after(5 * time.Minute)
				if w, there := get[v1.ThanosRuler](b, "thanosrulers", "a"); there {
					t.Errorf("the workload stays, with finalizers %v", w.Finalizers)
				}
				if denied, other := b.bound("alerts-001"), b.bound("alerts-002"); denied == "" || other != "" {
					t.Errorf("bindings %q of the denied object, %q of another one", denied, other)
				}
			})
		})
	}
}

// A deleted workload ends although its statuses cannot be written for longer, as an API server with faults, or one whose
// webhooks do not answer, may recover; but not while no API server answers.
func TestDeletionDuringOutages(t *testing.T) {
	for name, tc := range map[string]struct {
		answer *metav1.Status
		stays  bool // for an hour
	}{
		"a permission is missing": {&metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: `prometheusrules "alerts" is forbidden: User "operator" cannot patch resource`}, false},
		"a webhook does not answer": {&metav1.Status{Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
			Message: `Internal error occurred: failed calling webhook "policy.example": context deadline exceeded`}, false},
		"the API server has faults": {&metav1.Status{Code: http.StatusInternalServerError, Message: "etcdserver: request timed out"}, false},
		"no API server answers":     {&metav1.Status{Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.set(rule("alerts"))
				b.set(ruler("a"))
				b.start(nil, f)
				b.settle()
				b.answers(func(c call) *metav1.Status {
					if c.isStatus() {
						return tc.answer
					}
					return nil
				})
				b.deleted(ruler("a"))
				b.after(5 * time.Minute)
				if _, there := get[v1.ThanosRuler](b, "thanosrulers", "a"); !there {
					t.Error("the workload is gone before the API server could recover")
				}
				b.after(55 * time.Minute)
				w, there := get[v1.ThanosRuler](b, "thanosrulers", "a")
				if there != tc.stays {
					t.Errorf("after an hour: there %t, with finalizers %v", there, w.Finalizers)
				}
				b.answers(nil)
				b.after(10 * time.Minute)
				if _, there := get[v1.ThanosRuler](b, "thanosrulers", "a"); there || tc.stays && b.bound("alerts") != "" {
					t.Errorf("after the API server has recovered: there %t, bindings %q", there, b.bound("alerts"))
				}
			})
		})
	}
}

// A Role that lacks the permission for statuses leaves the statuses of other namespaces.
func TestForbiddenBindingsOfANamespace(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "closed"}})
		for i := range 300 {
			r := rule(fmt.Sprintf("alerts-%03d", i))
			b.set(r.DeepCopy())
			r.Namespace = "closed"
			b.set(r)
		}
		b.set(ruler("a", func(w *v1.ThanosRuler) { w.Spec.RuleNamespaceSelector = &metav1.LabelSelector{} }))
		b.refusing("update prometheusrules/status closed/", http.StatusForbidden, metav1.StatusReasonForbidden)
		b.start(nil, f)
		b.after(10 * time.Second)
		for i := range 300 {
			if name := fmt.Sprintf("alerts-%03d", i); b.bound(name) == "" {
				t.Fatalf("%s has no binding", name)
			}
		}
		if n := strings.Count(b.log.String(), "failed to update the status"); n > 20 {
			t.Errorf("%d warnings", n)
		}
	})
}
