package engine

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Each step of a reconciliation fails for a while: the steps before it are done, those after it are
// not, the condition has the reason, and the next success completes the rest.
func TestFailuresOfEachStep(t *testing.T) {
	all := []string{"create secrets team/ruler-a-config", "create secrets team/ruler-a-web", "create services team/operated", "create statefulsets team/ruler-a"}
	const refused = http.StatusInternalServerError
	down := func(call string) func(*harness, *fakeKind) {
		return func(b *harness, _ *fakeKind) { b.refusing(call, refused, metav1.StatusReasonInternalError) }
	}
	restore := func(b *harness, f *fakeKind) {
		b.answers(nil)
		f.gathers(nil)
		f.plans(nil)
	}
	for name, tc := range map[string]struct {
		change  func(*v1.ThanosRuler)
		fail    func(*harness, *fakeKind)
		repair  func(*harness, *fakeKind)
		done    []string // during the failure
		says    string   // the condition
		waits   bool     // no retry before the next event
		unbound bool     // gathering fails, so there are no bindings
	}{
		"finalizer": {fail: down("patch thanosrulers "), done: nil, says: "ReconciliationFailed patch thanosrulers", unbound: true},
		"finalizer of a workload that is not taken any more": {fail: func(b *harness, _ *fakeKind) {
			b.refusing("patch thanosrulers ", http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
		}, says: "ReconciliationFailed patch thanosrulers", unbound: true},
		"the cluster is not read": {
			change: func(w *v1.ThanosRuler) { w.Annotations["secrets"] = "login" },
			fail: func(b *harness, f *fakeKind) {
				b.set(secretOf("login", ""))
				down("get secrets team/login")(b, f)
			}, says: `ReconciliationFailed`, unbound: true,
		},
		"what it refers to is missing": {
			change: func(w *v1.ThanosRuler) { w.Annotations["secrets"] = "login" },
			fail:   func(*harness, *fakeKind) {},
			repair: func(b *harness, _ *fakeKind) { b.set(secretOf("login", "")) },
			says:   `ReconciliationFailed name: Secret "team/login" does not exist`, waits: true, unbound: true,
		},
		"it is invalid": {
			fail: func(_ *harness, f *fakeKind) {
				f.plans(func(_ v1.Workload, p *Plan) error { *p = Plan{}; return errors.New("spec.x: is wrong") })
			},
			repair: func(b *harness, f *fakeKind) {
				restore(b, f)
				edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Annotations["x"] = "right" })
			}, says: "ReconciliationFailed spec.x: is wrong", waits: true,
		},
		"the first content":        {fail: down("create secrets team/ruler-a-config"), done: all[:0], says: `ReconciliationFailed create Secret "ruler-a-config"`},
		"the second content":       {fail: down("create secrets team/ruler-a-web"), done: all[:1], says: `ReconciliationFailed create Secret "ruler-a-web"`},
		"the Service":              {fail: down("create services"), done: all[:2], says: `ReconciliationFailed create Service "operated"`},
		"the StatefulSet":          {fail: down("create statefulsets"), done: all[:3], says: `ReconciliationFailed create StatefulSet "ruler-a"`},
		"the status":               {fail: down("patch thanosrulers/status"), done: all, says: "none"},
		"bindings":                 {fail: func(b *harness, _ *fakeKind) { b.answers(refuseBindings) }, done: all, says: "True", unbound: true},
		"a storage class":          {change: storing("fast"), fail: func(*harness, *fakeKind) {}, repair: func(b *harness, _ *fakeKind) { b.set(class("fast")) }, done: all[:2], says: `ReconciliationFailed spec.storage.volumeClaimTemplate.spec.storageClassName: storage class "fast" does not exist`},
		"the user's Service":       {change: served("mine"), fail: func(*harness, *fakeKind) {}, repair: func(b *harness, _ *fakeKind) { b.set(service("mine", nil)) }, done: all[:2], says: "ReconciliationFailed spec.serviceName: "},
		"a Service of other pods":  {change: served("mine"), fail: func(b *harness, _ *fakeKind) { b.set(service("mine", map[string]string{"name": "b"})) }, repair: func(b *harness, _ *fakeKind) { b.set(service("mine", nil)) }, done: all[:2], says: "ReconciliationFailed spec.serviceName: selector"},
		"the namespace terminates": {fail: func(b *harness, _ *fakeKind) { b.answers(terminatingTeam) }, done: nil, says: `NamespaceTerminating namespace "team" is being deleted`},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				w := ruler("a")
				if tc.change != nil {
					tc.change(w)
				}
				b.set(rule("alerts"))
				b.set(w)
				tc.fail(b, f)
				b.start(nil, f)
				wrote := b.written()
				if !slices.Equal(wrote, tc.done) {
					t.Errorf("wrote %q, want %q", wrote, tc.done)
				}
				if got := b.condition("a", v1.Reconciled); !strings.Contains(got, tc.says) {
					t.Errorf("Reconciled %s, want %s", got, tc.says)
				}
				if bound := b.bound("alerts") != ""; bound == tc.unbound {
					t.Errorf("bindings %q", b.bound("alerts"))
				}
				tries := f.of("a")
				b.after(10 * time.Minute)
				if again := f.of("a") - tries; tc.waits && again > 0 || !tc.waits && !tc.unbound && tc.says != "none" && again == 0 {
					t.Errorf("%d reconciliations in ten minutes", again)
				}
				if !tc.waits && strings.Contains(b.log.String(), "object is invalid") || tc.waits && strings.Contains(b.log.String(), "reconciliation failed") {
					t.Errorf("log:\n%s", b.log)
				}
				if tc.repair == nil {
					tc.repair = restore
				}
				tc.repair(b, f)
				b.after(10 * time.Minute)
				want := slices.DeleteFunc(slices.Clone(all), func(w string) bool {
					return slices.Contains(tc.done, w) || strings.Contains(w, "services") && f.Shape(workloadA(b)).Service.Custom
				})
				if got := b.written(); !slices.Equal(got, want) {
					t.Errorf("afterwards: wrote %q, want %q", got, want)
				}
				if got := b.condition("a", v1.Reconciled); got != "True" {
					t.Errorf("afterwards: Reconciled %s", got)
				}
				if got := b.bound("alerts"); got != "thanosrulers/a=True" {
					t.Errorf("afterwards: bindings %q", got)
				}
			})
		})
	}
}

func workloadA(b *harness) v1.Workload {
	w, _ := get[v1.ThanosRuler](b, "thanosrulers", "a")
	return &w
}

func refuseBindings(c call) *metav1.Status {
	if c.resource == "prometheusrules" && c.sub == "status" {
		return failure(http.StatusInternalServerError, metav1.StatusReasonInternalError, c)
	}
	return nil
}

// terminatingTeam imitates the API server while the operator's cache does not have the deletion of
// the namespace yet.
func terminatingTeam(c call) *metav1.Status {
	if c.verb != "create" {
		return nil
	}
	st := failure(http.StatusForbidden, metav1.StatusReasonForbidden, c)
	st.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return st
}

func storing(class string) func(*v1.ThanosRuler) {
	return func(w *v1.ThanosRuler) {
		w.Spec.Storage = &v1.StorageSpec{}
		w.Spec.Storage.VolumeClaimTemplate.Spec.StorageClassName = &class
	}
}

func served(service string) func(*v1.ThanosRuler) {
	return func(w *v1.ThanosRuler) { w.Annotations["service"] = service }
}

func service(name string, selector map[string]string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Spec: corev1.ServiceSpec{Selector: selector}}
}

// A claim that cannot grow keeps its size in the StatefulSet, which is written with all other
// changes; once it can, both grow.
func TestAClaimThatCannotGrow(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		size := "1Gi"
		f.plans(func(_ v1.Workload, p *Plan) error {
			for _, s := range p.Workload {
				if sts, is := setIn(s); is {
					sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{*claim("db", size)}
				}
			}
			return nil
		})
		b.set(ruler("a"))
		c := claim("db-ruler-a-0", "1Gi")
		c.Namespace, c.Labels = "team", map[string]string{"app.kubernetes.io/managed-by": "prometheus-operator", "app.kubernetes.io/instance": "a", "name": "a"}
		c.Status.Phase = corev1.ClaimBound
		b.set(c)
		b.start(nil, f)
		b.written()
		b.refusing("patch persistentvolumeclaims", http.StatusForbidden, metav1.StatusReasonForbidden)
		size = "2Gi"
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) {})
		b.settle()
		if got := sizeOf(b); got != "1Gi" || !strings.Contains(b.condition("a", v1.Reconciled), "ReconciliationFailed") {
			t.Errorf("the StatefulSet asks for %s, Reconciled %s", got, b.condition("a", v1.Reconciled))
		}
		if got := templateOf(b).Labels["generation"]; got != "2" {
			t.Errorf("the StatefulSet is of generation %s", got)
		}
		b.answers(nil)
		b.after(10 * time.Minute)
		has, _ := get[corev1.PersistentVolumeClaim](b, "persistentvolumeclaims", "db-ruler-a-0")
		if now, _ := storageOf(&has); now.Cmp(resource.MustParse("2Gi")) != 0 || sizeOf(b) != "2Gi" {
			t.Errorf("the claim has %s, the StatefulSet asks for %s", now.String(), sizeOf(b))
		}
		if got := b.condition("a", v1.Reconciled); !strings.HasPrefix(got, "True ") {
			t.Errorf("Reconciled %s", got)
		}
	})
}
