package engine

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Changes during an interruption of the watches are detected.
func TestChangesThatNoWatchShows(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(b *harness)
		want   string // configuration afterwards
	}{
		"a rule comes":   {func(b *harness) { b.set(rule("more")) }, "x alerts more"},
		"a rule goes":    {func(b *harness) { b.gone(rule("alerts")) }, "x"},
		"a rule changes": {func(b *harness) { b.set(rule("alerts", "bad", "broken")) }, "x"},
		"a rule is deleted and created again": {func(b *harness) {
			b.gone(rule("alerts"))
			b.set(rule("alerts", "bad", "broken"))
		}, "x"},
		"a rule is created again as it was": {func(b *harness) {
			b.gone(rule("alerts"))
			b.set(rule("alerts"))
		}, "x alerts"},
		"the workload is created again as it was": {func(b *harness) {
			w, _ := get[v1.ThanosRuler](b, "thanosrulers", "a")
			b.gone(&w)
			w.UID, w.Finalizers = "another", nil
			b.set(&w)
		}, "x alerts"},
		"the workload changes": {func(b *harness) {
			edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Spec.RuleSelector = nil })
		}, "x"},
		"the workload is deleted and created again": {func(b *harness) {
			b.gone(ruler("a"))
			b.set(ruler("a", func(w *v1.ThanosRuler) { w.UID = "another" }))
		}, "alerts"},
		"the workload is deleted": {func(b *harness) { b.gone(ruler("a")) }, "x alerts"},
		"a Secret changes": {func(b *harness) {
			edit(b, "secrets", "login", func(s *corev1.Secret) { s.Data["value"] = []byte("y") })
		}, "y alerts"},
		"generated content is edited": {func(b *harness) {
			edit(b, "secrets", "ruler-a-config", func(s *corev1.Secret) { s.Data["config"] = []byte("mine") })
		}, "x alerts"},
		"generated content is deleted": {func(b *harness) { b.gone(secretOf("ruler-a-config", "")) }, "x alerts"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.set(secretOf("login", "x"))
				b.set(rule("alerts"))
				b.set(ruler("a", func(w *v1.ThanosRuler) { w.Annotations["secrets"] = "login" }))
				c := b.start(nil, f)[0]
				if got := b.config("ruler-a-config"); got != "x alerts" {
					t.Fatalf("at first: %q", got)
				}
				b.lose(func() { tc.change(b) })
				b.after(2 * time.Minute)
				b.settle()
				if got := b.config("ruler-a-config"); got != tc.want {
					t.Errorf("configuration %q, want %q", got, tc.want)
				}
				w, there := get[v1.ThanosRuler](b, "thanosrulers", "a")
				if got := b.bound("alerts"); strings.Contains(tc.want, "alerts") && (got == "thanosrulers/a=True") != there {
					t.Errorf("bindings %q", got)
				}
				if s, _ := get[corev1.Secret](b, "secrets", "ruler-a-config"); there && s.OwnerReferences[0].UID != w.UID {
					t.Errorf("the owner is %s, want %s", s.OwnerReferences[0].UID, w.UID)
				}
				if !there && (len(c.memory) > 0 || f.gatherers("a") != 0) {
					t.Errorf("%d workloads are remembered, %d gatherers open", len(c.memory), f.gatherers("a"))
				}
			})
		})
	}
}

// A change while a workload is being gathered triggers another reconciliation that includes it.
func TestChangesDuringGather(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(b *harness)
		want   string
	}{
		"a Secret that was read": {func(b *harness) {
			edit(b, "secrets", "login", func(s *corev1.Secret) { s.Data["value"] = []byte("y") })
		}, "y alerts"},
		"a rule that was read": {func(b *harness) { b.gone(rule("alerts")) }, "x"},
		"several": {func(b *harness) {
			for _, name := range []string{"b", "c", "d"} {
				b.set(rule(name))
			}
		}, "x alerts b c d"},
		"the workload": {func(b *harness) {
			edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Annotations["secrets"] = "" })
		}, "alerts"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.set(secretOf("login", "x"))
				b.set(rule("alerts"))
				b.set(ruler("a", func(w *v1.ThanosRuler) { w.Annotations["secrets"] = "login" }))
				changed := false
				f.gathers(func(v1.Workload, Cluster) error {
					if !changed {
						changed = true
						tc.change(b)
						time.Sleep(time.Second) // the events arrive during Gather
					}
					return nil
				})
				b.start(nil, f)
				if got := b.config("ruler-a-config"); got != tc.want {
					t.Errorf("configuration %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// Any number of events during a reconciliation triggers exactly one more.
func TestEventsDuringAReconciliationStartOneMore(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("a"))
		b.start(nil, f)
		before, slow := f.of("a"), true
		f.gathers(func(v1.Workload, Cluster) error {
			if slow {
				slow = false
				for _, name := range []string{"b", "c", "d"} {
					b.set(rule(name, "bad", "broken"))
				}
				time.Sleep(time.Second)
			}
			return nil
		})
		b.set(rule("alerts", "bad", "broken")) // invalid, so that nothing is written
		b.settle()
		if n := f.of("a") - before; n != 2 {
			t.Errorf("%d reconciliations, want the one and one more", n)
		}
	})
}

// A workload is woken when a missing Secret is created, during or after Gather.
func TestASecretThatComesLater(t *testing.T) {
	for name, during := range map[string]bool{"during Gather": true, "after it": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.set(ruler("a", func(w *v1.ThanosRuler) { w.Annotations["secrets"] = "login" }))
				f.gathers(func(v1.Workload, Cluster) error {
					if f.gathers(nil); during { // it was looked up and is missing
						b.set(secretOf("login", "x"))
						time.Sleep(time.Second)
					}
					return nil
				})
				b.start(nil, f)
				if !during {
					if got := b.condition("a", v1.Reconciled); got != `False ReconciliationFailed name: Secret "team/login" does not exist` {
						t.Errorf("Reconciled %s", got)
					}
					b.set(secretOf("login", "x"))
				}
				b.settle()
				if got := b.config("ruler-a-config"); got != "x" {
					t.Errorf("configuration %q", got)
				}
				if got := b.condition("a", v1.Reconciled); got != "True NoSelectedResources no PrometheusRule or Probe is selected" {
					t.Errorf("Reconciled %s", got)
				}
			})
		})
	}
}

// A reconciliation that fails before it reads a Secret is still woken by changes of the Secret.
func TestAnEarlyFailureForgetsNoReference(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(secretOf("login", "x"))
		b.set(ruler("a", func(w *v1.ThanosRuler) { w.Annotations["secrets"] = "login" }))
		b.start(nil, f)
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) {
			w.Spec.RuleSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}
		})
		b.settle()
		if got := b.condition("a", v1.Reconciled); !strings.HasPrefix(got, "False ReconciliationFailed spec.ruleSelector") {
			t.Errorf("Reconciled %s", got)
		}
		before := f.of("a")
		edit(b, "secrets", "login", func(s *corev1.Secret) { s.Data["value"] = []byte("y") })
		b.settle()
		if n := f.of("a") - before; n != 1 {
			t.Errorf("the Secret wakes it %d times", n)
		}
	})
}

// A kind that is not installed at startup is selected as soon as it is.
func TestAKindThatComesLate(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		probe := func(name string) *v1.Probe {
			return &v1.Probe{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Generation: 1}}
		}
		b.set(rule("alerts"))
		b.set(probe("early"))
		b.set(ruler("a"))
		b.set(ruler("none", func(w *v1.ThanosRuler) { w.Spec.RuleSelector = nil }))
		b.start([]*catalog.Row{catalog.Probe}, f)
		if got := b.config("ruler-a-config"); got != "alerts" {
			t.Errorf("without the kind: %q", got)
		}
		none := f.of("none")
		if err := b.sources.Read(t.Context(), catalog.Probe); err != nil {
			t.Fatal(err)
		}
		b.settle()
		if got := b.config("ruler-a-config"); got != "alerts early" {
			t.Errorf("with it: %q", got)
		}
		b.set(probe("later"))
		b.settle()
		if got := b.config("ruler-a-config"); got != "alerts early later" {
			t.Errorf("with another object: %q", got)
		}
		if n := f.of("none") - none; n > 0 {
			t.Errorf("a workload that selects nothing was reconciled %d times", n)
		}
	})
}

// A workload that selects an installed but forbidden kind keeps its last configuration, reports the
// reason, and resumes as soon as the kind can be read.
func TestAKindThatMayNotBeRead(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("alerts"))
		b.set(&v1.Probe{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "early", Generation: 1}})
		b.set(ruler("a"))
		b.set(ruler("none", func(w *v1.ThanosRuler) { w.Spec.RuleSelector = nil }))
		b.start(nil, f)
		if got := b.config("ruler-a-config"); got != "alerts early" {
			t.Fatalf("before: %q", got)
		}
		b.stop()
		reason := "no permission to list, watch probes"
		b.refused = func(row *catalog.Row) string { return map[*catalog.Row]string{catalog.Probe: reason}[row] }
		b.start([]*catalog.Row{catalog.Probe}, f)
		b.set(rule("later"))
		b.settle()
		if got := b.config("ruler-a-config"); got != "alerts early" {
			t.Errorf("without the permission: %q", got)
		}
		if got := b.condition("a", v1.Reconciled); got != "False PermissionMissing Probes cannot be read, so nothing is changed until they can: "+reason {
			t.Errorf("condition %q", got)
		}
		if got := b.condition("none", v1.Reconciled); !strings.HasPrefix(got, "True") {
			t.Errorf("a workload that selects nothing has the condition %q", got)
		}
		if err := b.sources.Read(t.Context(), catalog.Probe); err != nil {
			t.Fatal(err)
		}
		b.settle()
		if got := b.config("ruler-a-config"); got != "alerts later early" {
			t.Errorf("with the permission: %q", got)
		}
		if got := b.condition("a", v1.Reconciled); !strings.HasPrefix(got, "True") {
			t.Errorf("with the permission: %q", got)
		}
	})
}

// A forbidden kind that is uninstalled has no objects to keep.
func TestAForbiddenKindIsRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		var installed atomic.Bool
		installed.Store(true)
		b.refused = func(row *catalog.Row) string {
			if row == catalog.Probe && installed.Load() {
				return "no permission"
			}
			return ""
		}
		b.set(rule("alerts"))
		b.set(ruler("a"))
		b.start([]*catalog.Row{catalog.Probe}, f)
		if got := b.config("ruler-a-config"); got != "none" {
			t.Errorf("forbidden: %q", got)
		}
		installed.Store(false)
		b.after(forbiddenLook)
		if got := b.config("ruler-a-config"); got != "alerts" {
			t.Errorf("not installed: %q", got)
		}
	})
}

// An event triggers only the reconciliations of the affected workloads.
func TestEventsWakeThoseTheyAreAbout(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		byTeam := func(team string) func(*v1.ThanosRuler) {
			return func(w *v1.ThanosRuler) { w.Spec.RuleSelector.MatchLabels = map[string]string{"team": team} }
		}
		b.set(ruler("a", byTeam("a")))
		b.set(ruler("b", byTeam("b")))
		b.set(rule("alerts", "team", "a"))
		b.start(nil, f)
		for _, tc := range []struct {
			what string
			do   func()
			want []string
		}{
			{"a rule of a", func() { b.set(rule("more", "team", "a")) }, []string{"a"}},
			{"it moves to b", func() { b.set(rule("more", "team", "b")) }, []string{"a", "b"}},
			{"a rule of nobody", func() { b.set(rule("other", "team", "c")) }, nil},
			{"the status of a rule", func() {
				edit(b, "prometheusrules", "alerts", func(r *v1.PrometheusRule) { r.Generation--; r.Status.Bindings = nil })
			}, nil},
			{"the Secret of a", func() {
				edit(b, "secrets", "ruler-a-config", func(s *corev1.Secret) { s.Data = nil })
			}, []string{"a"}},
			{"the rule goes", func() { b.gone(rule("more")) }, []string{"b"}},
			{"labels of b", func() {
				edit(b, "thanosrulers", "b", func(w *v1.ThanosRuler) { w.Generation--; w.Labels = map[string]string{"x": "y"} })
			}, []string{"b"}},
			{"the status of b", func() {
				edit(b, "thanosrulers", "b", func(w *v1.ThanosRuler) { w.Generation--; w.Status.Replicas = 7 })
			}, nil},
		} {
			a, other := f.of("a"), f.of("b")
			tc.do()
			b.settle()
			var woken []string
			if f.of("a") > a {
				woken = append(woken, "a")
			}
			if f.of("b") > other {
				woken = append(woken, "b")
			}
			if !slices.Equal(woken, tc.want) {
				t.Errorf("%s wakes %v, want %v", tc.what, woken, tc.want)
			}
		}
	})
}
