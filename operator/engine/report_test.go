package engine

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// The status is written without the scale fields only if the CRD lacks them, as a
// HorizontalPodAutoscaler reads them.
func TestStatusWithoutScaleFields(t *testing.T) {
	kind := schema.GroupKind{Group: "monitoring.coreos.com", Kind: "Prometheus"}
	resource := schema.GroupResource{Group: kind.Group, Resource: "prometheuses"}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"none": {nil, false},
		// Response of an API server of version 1.34.
		"the CRD has no such field": {&apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "failed to create typed patch object (demo/main; monitoring.coreos.com/v1, Kind=Prometheus): .status.shards: field not declared in schema",
		}}, true},
		"bad request":     {apierrors.NewBadRequest("strict decoding error"), true},
		"invalid":         {apierrors.NewInvalid(kind, "main", nil), true},
		"internal error":  {apierrors.NewInternalError(errors.New("etcdserver: leader changed")), false},
		"timeout":         {apierrors.NewTimeoutError("try again", 1), false},
		"too many":        {apierrors.NewTooManyRequests("slow down", 1), false},
		"forbidden":       {apierrors.NewForbidden(resource, "main", errors.New("no")), false},
		"has gone":        {apierrors.NewNotFound(resource, "main"), false},
		"connection lost": {errors.New("connection refused"), false},
	} {
		if tc.err != nil {
			tc.err = fmt.Errorf("apply status: %w", tc.err)
		}
		if got := lacksFields(tc.err); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// reconciled returns the condition Reconciled of a ThanosRuler.
func (b *harness) reconciled(name string) v1.Condition {
	w, _ := get[v1.ThanosRuler](b, "thanosrulers", name)
	for _, c := range w.Status.Conditions {
		if c.Type == v1.Reconciled {
			return c
		}
	}
	return v1.Condition{}
}

// A generation that has not been reconciled yet is not reported as reconciled, because of a pod that changes meanwhile:
// tools that deliver changes wait for that.
func TestStatusOfAGenerationThatIsNotReconciledYet(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("a"))
		b.start(nil, f)
		b.settle()
		if c := b.reconciled("a"); c.Status != v1.ConditionTrue || c.ObservedGeneration != 1 {
			t.Fatalf("first %+v", c)
		}
		f.gathers(func(v1.Workload, Cluster) error {
			time.Sleep(time.Minute)
			return errors.New("spec.x is wrong")
		})
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Spec.Image = "new" })
		b.after(time.Second)
		b.set(podOf("ruler-a"))
		b.after(10 * time.Second)
		w, _ := get[v1.ThanosRuler](b, "thanosrulers", "a")
		for _, c := range w.Status.Conditions {
			if c.ObservedGeneration != 1 {
				t.Errorf("during the reconciliation of generation 2 %+v", c)
			}
		}
		b.after(5 * time.Minute)
		if c := b.reconciled("a"); c.Status != v1.ConditionFalse || c.ObservedGeneration != 2 || c.Message != "spec.x is wrong" {
			t.Errorf("then %+v", c)
		}
	})
}

// A workload that was deleted and created again has no result of its predecessor.
func TestStatusOfARecreatedWorkload(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("a"))
		c := b.start(nil, f)[0]
		b.settle()
		f.gathers(func(v1.Workload, Cluster) error {
			time.Sleep(time.Minute)
			return errors.New("spec.x is wrong")
		})
		b.gone(ruler("a"))
		second := ruler("a", func(w *v1.ThanosRuler) { w.UID = "uid-of-the-second" })
		b.set(second)
		b.after(time.Second)
		b.set(podOf("ruler-a"))
		b.after(10 * time.Second)
		if got := b.reconciled("a"); got.Status != v1.ConditionUnknown {
			t.Errorf("before its first reconciliation %+v", got)
		}
		if _, status, _ := c.Workload(catalog.KeyOf(second)); status.(v1.ThanosRulerStatus).Conditions[1].Status != v1.ConditionUnknown {
			t.Errorf("its page has the status %+v", status)
		}
		b.after(5 * time.Minute)
		if got := b.reconciled("a"); got.Status != v1.ConditionFalse || got.ObservedGeneration != 1 {
			t.Errorf("then %+v", got)
		}
	})
}

// A condition of another client stays, is not taken over, and does not make the operator write its status again.
func TestConditionsOfOthers(t *testing.T) {
	foreign := v1.Condition{Type: "example.org/Backup", Status: v1.ConditionTrue, Reason: "Done"}
	for name, change := range map[string]func(*harness, *v1.ThanosRuler){
		"of a workload": func(*harness, *v1.ThanosRuler) {},
		"of one that is not in memory": func(b *harness, w *v1.ThanosRuler) {
			b.room = 512 << 10
			w.Spec.AlertQueryURL = strings.Repeat("x", 600<<10)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				w := ruler("a", func(w *v1.ThanosRuler) { w.Status.Conditions = []v1.Condition{foreign} })
				change(b, w)
				b.set(w)
				var writes atomic.Int32
				b.answers(func(c call) *metav1.Status {
					if c.resource == "thanosrulers" && c.sub == "status" {
						writes.Add(1)
					}
					return nil
				})
				b.start(nil, f)
				b.settle()
				before := writes.Load()
				for i := range 10 {
					p := podOf("ruler-a")
					p.Annotations = map[string]string{"n": fmt.Sprint(i)}
					b.set(p)
					b.settle()
				}
				if n := writes.Load() - before; before == 0 || n > 1 { // of the first pod
					t.Errorf("%d writes of the status, then %d", before, n)
				}
				got, _ := get[v1.ThanosRuler](b, "thanosrulers", "a")
				others := 0
				for _, c := range got.Status.Conditions {
					if c.Type == foreign.Type {
						others++ // twice if it was written
					}
				}
				if others != 1 || len(got.Status.Conditions) < 2 {
					t.Errorf("conditions %+v", got.Status.Conditions)
				}
			})
		})
	}
}

// The StatefulSet of another workload, whose name leads to the same one, is not reported on as if it were ours; one that
// has no owner yet, or that of a predecessor, is.
func TestStatefulSetOfAnotherWorkload(t *testing.T) {
	controlled := func(name, uid string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "monitoring.coreos.com/v1", Kind: "ThanosRuler", Name: name, UID: types.UID(uid), Controller: new(true)}}
	}
	for name, tc := range map[string]struct {
		owners []metav1.OwnerReference
		want   string
	}{
		"another's":        {controlled("main", "2"), "False StatefulSetNotFound statefulset team/ruler-a belongs to ThanosRuler main"},
		"ours":             {controlled("a", "uid-a"), "True"},
		"of a predecessor": {controlled("a", "0"), "True"},
		"without an owner": {nil, "True"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.set(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ruler-a", Labels: map[string]string{"of": "ruler"}, OwnerReferences: tc.owners}})
				b.set(podOf("ruler-a"))
				b.set(ruler("a", func(w *v1.ThanosRuler) { w.Spec.Paused = true }))
				b.start(nil, f)
				b.settle()
				if got := b.condition("a", v1.Available); got != tc.want {
					t.Errorf("Available %s", got)
				}
			})
		})
	}
}
