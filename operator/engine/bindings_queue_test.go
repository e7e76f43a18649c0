package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
)

// Deletions of workloads, whose bindings a slow API server takes minutes to remove, do not delay the
// configuration of another one.
func TestDeletionsDelayNoOtherWorkload(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		for i := range 20 {
			b.set(rule(fmt.Sprintf("alerts-%02d", i)))
		}
		for _, name := range []string{"a", "b", "c", "d"} {
			b.set(ruler(name))
		}
		b.start(nil, f)
		b.settle()
		b.answers(func(c call) *metav1.Status {
			if strings.HasPrefix(c.String(), "patch prometheusrules/status") {
				time.Sleep(10 * time.Minute)
			}
			return nil
		})
		for _, name := range []string{"b", "c", "d"} {
			b.deleted(ruler(name))
		}
		b.settle()
		before := b.config("ruler-a-config")
		b.set(rule("late"))
		b.settle()
		if b.config("ruler-a-config") == before {
			t.Error("a change is not written while other workloads are deleted")
		}
		b.after(5 * time.Hour)
		for _, name := range []string{"b", "c", "d"} {
			if w, there := get[v1.ThanosRuler](b, "thanosrulers", name); there {
				t.Errorf("%s stays, with finalizers %v", name, w.Finalizers)
			}
		}
		if got := b.bound("alerts-07"); got != "thanosrulers/a=True" {
			t.Errorf("bindings %q", got)
		}
	})
}

// Objects whose status the API server always refuses, more than one turn of them, keep back neither
// the others nor the end of a workload that is deleted.
func TestRefusedBindings(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		for i := range 2*bindTurn + 50 {
			b.set(rule(fmt.Sprintf("alerts-%04d", i)))
		}
		b.set(ruler("a"))
		b.start(nil, f)
		b.settle()
		refused := false
		b.answers(func(c call) *metav1.Status {
			if refused && strings.Contains(c.String(), "prometheusrules/status") && c.name < fmt.Sprintf("alerts-%04d", bindTurn+20) {
				return failure(422, metav1.StatusReasonInvalid, c)
			}
			return nil
		})
		refused = true
		b.deleted(ruler("a"))
		b.after(10 * time.Second)
		if got := b.bound(fmt.Sprintf("alerts-%04d", 2*bindTurn)); got != "" {
			t.Errorf("an object behind those that are refused has the bindings %q", got)
		}
		b.after(5 * time.Minute)
		if w, there := get[v1.ThanosRuler](b, "thanosrulers", "a"); there {
			t.Errorf("the workload stays, with finalizers %v", w.Finalizers)
		}
	})
}

// The bindings of a workload that selects thousands of objects are written in turns: another one does
// not wait for the last of them.
func TestBindingsTakeTurns(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		const selected = 3 * bindTurn
		for i := range selected {
			b.set(rule(fmt.Sprintf("alerts-%04d", i)))
		}
		b.answers(func(c call) *metav1.Status {
			if strings.Contains(c.String(), "prometheusrules/status") {
				time.Sleep(time.Second)
			}
			return nil
		})
		for _, name := range []string{"a", "b"} {
			b.set(ruler(name))
		}
		started := b.start(nil, f)
		const parallel = 8 // writes
		b.after(2 * (bindTurn/parallel + 5) * time.Second)
		count := map[string]int{}
		for i := range selected {
			for _, name := range []string{"a", "b"} {
				if strings.Contains(b.bound(fmt.Sprintf("alerts-%04d", i)), "/"+name) {
					count[name]++
				}
			}
		}
		if count["a"] < bindTurn || count["b"] < bindTurn || count["a"]+count["b"] == 2*selected {
			t.Errorf("objects with bindings %v of %d after two turns", count, selected)
		}
		b.after(time.Hour)
		if got := b.bound(fmt.Sprintf("alerts-%04d", selected-1)); got != "thanosrulers/a=True thanosrulers/b=True" {
			t.Errorf("bindings %q", got)
		}
		if kept := len(started[0].bindings.results); kept > 0 {
			t.Errorf("the results of %d workloads are kept after they were written", kept)
		}
	})
}

// Objects that are as large as an API server stores have no room for a status: that keeps back neither the
// status of others nor the end of a workload that is deleted.
func TestBindingsOfAFullObject(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		for i := range 100 {
			b.set(rule(fmt.Sprintf("alerts-%02d", i)))
		}
		b.set(ruler("a"))
		b.answers(func(c call) *metav1.Status {
			if strings.Contains(c.String(), "prometheusrules/status") && c.name < "alerts-20" {
				return &metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: "etcdserver: request is too large"}
			}
			return nil
		})
		b.start(nil, f)
		b.after(10 * time.Second)
		if got := b.bound("alerts-99"); got != "thanosrulers/a=True" {
			t.Errorf("bindings %q", got)
		}
		b.deleted(ruler("a"))
		b.after(5 * time.Minute)
		if w, there := get[v1.ThanosRuler](b, "thanosrulers", "a"); there {
			t.Errorf("the workload stays, with finalizers %v", w.Finalizers)
		}
	})
}

// A namespace whose objects get another status all the time does not keep back the objects of the others.
func TestNamespacesTakeTurnsInBindings(t *testing.T) {
	change := func(namespace string, i int) bindings.Change {
		return bindings.Change{Object: bindings.Object{Namespace: namespace, Name: fmt.Sprint(i)}}
	}
	var changes []bindings.Change
	for i := range 3 * bindTurn {
		changes = append(changes, change("aaa-hostile", i))
	}
	for i := range 3 {
		changes = append(changes, change("good", i), change("team", i))
	}
	got := inTurns(changes)
	if len(got) != len(changes) {
		t.Fatalf("%d of %d changes", len(got), len(changes))
	}
	for i, want := range []string{"aaa-hostile/0", "good/0", "team/0", "aaa-hostile/1", "good/1", "team/1", "aaa-hostile/2", "good/2", "team/2", "aaa-hostile/3"} {
		if o := got[i].Object; o.Namespace+"/"+o.Name != want {
			t.Errorf("change %d is of %s/%s, want %s", i, o.Namespace, o.Name, want)
		}
	}
}

// However often the results of many large objects change, few of them are written each second.
func TestBindingsHaveARate(t *testing.T) {
	q := &bindingsQueue{skipped: map[types.NamespacedName]*skipList{}, due: map[types.NamespacedName]time.Time{}}
	key := types.NamespacedName{Namespace: "monitoring", Name: "k8s"}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		large := 0
		w := bindings.NewWriter(func(_ context.Context, c bindings.Change) (bindings.Written, error) {
			mu.Lock()
			defer mu.Unlock()
			large++
			return bindings.Written{Bytes: 1 << 20}, nil
		})
		var changes []bindings.Change
		for i := range bindTurn {
			changes = append(changes, bindings.Change{Object: bindings.Object{Row: catalog.PrometheusRule, Namespace: "hostile", Name: fmt.Sprint(i)}})
		}
		for began := time.Now(); time.Since(began) < 10*time.Minute; time.Sleep(bindDelay) {
			if time.Until(q.due[key].Add(-bindCredit)) > 0 {
				continue
			}
			if _, err := q.turn(t.Context(), w, key, slices.Clone(changes)); err != nil {
				t.Fatal(err)
			}
		}
		if most := 600 + 30 + 20; large > most || large < 500 {
			t.Errorf("%d MiB in ten minutes, want at most %d", large, most)
		}
	})
}

// An author who makes an object too large does not have the results of other operators removed from its status, in which
// there may be more than in that of a usual object. Where there is more than is read, the status is left alone.
func TestBindingsOfAnOversizedObject(t *testing.T) {
	for name, tc := range map[string]struct {
		groups, others int
		want           string // without the bindings of others
	}{
		"it is small":                 {1, 20, "thanosrulers/a=True"},
		"it is too large":             {budget.Groups + 1, 20, "thanosrulers/a=False"},
		"its status is too large too": {budget.Groups + 1, 140, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				r := rule("alerts")
				for i := range tc.groups {
					r.Spec.Groups = append(r.Spec.Groups, v1.RuleGroup{Name: fmt.Sprint("g", i)})
				}
				for i := range tc.others {
					r.Status.Bindings = append(r.Status.Bindings, v1.WorkloadBinding{Group: v1.GroupName, Resource: "thanosrulers", Namespace: "other", Name: fmt.Sprint("other-", i),
						Conditions: []v1.ConfigResourceCondition{{Type: bindings.Accepted, Status: v1.ConditionFalse, Message: strings.Repeat("x", 4<<10)}}})
				}
				b.set(r)
				b.set(ruler("a"))
				b.start(nil, f)
				b.after(time.Minute)
				split := func() (own string, others int) {
					for _, bound := range strings.Fields(b.bound("alerts")) {
						if strings.Contains(bound, "/other-") {
							others++
						} else {
							own += bound
						}
					}
					return own, others
				}
				if own, others := split(); own != tc.want || others != tc.others {
					t.Errorf("binding %q beside %d of %d others", own, others, tc.others)
				}
				b.deleted(ruler("a"))
				b.after(time.Minute)
				_, there := get[v1.ThanosRuler](b, "thanosrulers", "a")
				if own, others := split(); there || own != "" || others != tc.others {
					t.Errorf("after the deletion: there %t, binding %q beside %d of %d others", there, own, others, tc.others)
				}
			})
		})
	}
}
