package apply

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// The result of our own write in a cache is not a foreign change.
func TestStateOf(t *testing.T) {
	object := func(edit ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
		return statefulSet("5", "1", append(edit, func(s *appsv1.StatefulSet) {
			s.Generation = max(s.Generation, 3)
			s.OwnerReferences = []metav1.OwnerReference{{Name: "web", Controller: new(true), BlockOwnerDeletion: new(true)}}
		})...)
	}
	for name, tc := range map[string]struct {
		edit func(*appsv1.StatefulSet)
		same bool
	}{
		"the same":       {func(*appsv1.StatefulSet) {}, true},
		"another status": {func(s *appsv1.StatefulSet) { s.ResourceVersion, s.Status.Replicas = "6", 1 }, true},
		"another spec":   {func(s *appsv1.StatefulSet) { s.Generation = 4 }, false},
		"another label":  {func(s *appsv1.StatefulSet) { s.Labels[wellknown.LabelManagedBy] = "them" }, false},
		"another hash":   {func(s *appsv1.StatefulSet) { s.Annotations[wellknown.AnnotationInputHash] = "2" }, false},
		"created again":  {func(s *appsv1.StatefulSet) { s.UID = "another" }, false},
	} {
		if got := stateOf(object()) == stateOf(object(tc.edit)); got != tc.same {
			t.Errorf("%s: %v", name, got)
		}
	}
	if stateOf(secret("5", "a")) == stateOf(secret("6", "a")) {
		t.Error("Secrets differ by version")
	}
}

func TestConflictsAreToldTogether(t *testing.T) {
	at := func(kind, name, by string, minute int) Conflict {
		return Conflict{Kind: kind, Name: name, By: by, Since: time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC)}
	}
	err := &ConflictError{[]Conflict{at("Secret", "a", "them", 5), at("Service", "c", "argocd", 7), at("Secret", "b", "them", 4)}}
	want := `Service "c": argocd has been changing it back since 2026-01-02T03:07:00Z; Secret "a", Secret "b": them has been changing them back since 2026-01-02T03:04:00Z; ` +
		`the operator overwrites with backoff (up to 5m0s) until that stops`
	if err.Error() != want {
		t.Errorf("%s\nwant %s", err, want)
	}
}

// Another client reverts a ConfigMap after each of our writes. The other objects are
// still written, and later removals are skipped.
func TestAContestedObjectIsPutOff(t *testing.T) {
	b := newBench(t)
	overwrites := 0
	b.writer.OnOverwrite = func(kind string) {
		if kind != "ConfigMap" {
			t.Errorf("overwrote a %s", kind)
		}
		overwrites++
	}
	object := func(name, data string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Data: map[string]string{"k": data}}
	}
	steps := []Step{
		{Verb: Put, Object: object("contested", "ours")}, {Verb: Remove, Object: object("surplus", "")},
		{Verb: Put, Object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other"}}},
	}
	revert := func() {
		theirs := object("contested", "theirs")
		if _, err := b.kube.CoreV1().ConfigMaps("ns").Update(t.Context(), theirs, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
			t.Fatal(err)
		}
		b.configMaps.show(theirs)
	}
	if _, err := b.writer.Do(t.Context(), steps); err != nil {
		t.Fatal(err)
	}
	for i := range promptOverwrites {
		revert()
		if done, err := b.writer.Do(t.Context(), steps); err != nil || done[0].Change != Updated {
			t.Fatalf("round %d: %v, %v", i, done, err)
		}
	}
	revert()
	b.calls()
	done, err := b.writer.Do(t.Context(), steps)
	conflict, is := errors.AsType[*ConflictError](err)
	if !is || len(conflict.Conflicts) != 1 || !conflict.Conflicts[0].New || conflict.Wait() <= 0 || conflict.Wait() > firstPause {
		t.Fatalf("%v", err)
	}
	if want := `ConfigMap "contested": "kubectl-edit" has been changing it back since 20`; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%q, want %q…", err, want)
	}
	if diff := cmp.Diff([]string{"get"}, b.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if len(done) != 1 || done[0].Object.GetName() != "other" {
		t.Errorf("done: %v", done)
	}
	if overwrites != promptOverwrites || b.writer.Conflicts() != 1 {
		t.Errorf("%d overwrites, %d conflicts", overwrites, b.writer.Conflicts())
	}
	// The other client was read and reported once.
	_, err = b.writer.Do(t.Context(), steps)
	if conflict, is = errors.AsType[*ConflictError](err); !is || conflict.Conflicts[0].New || len(b.calls()) > 0 {
		t.Errorf("%#v", err)
	}
}

// A conflict that is noticed in a failing reconciliation is not reported by it but by a later one.
func TestAConflictIsToldAfterAFailure(t *testing.T) {
	b := newBench(t)
	contested := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "contested"}}
	b.writer.conflicts.of = map[objectID]*history{{"ConfigMap", "ns", "contested"}: {by: "them", overwrites: 9, last: time.Now()}}
	b.fail("create", errors.New("no answer"))
	steps := []Step{{Verb: Put, Object: contested}, {Verb: Put, Object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other"}}}}
	b.configMaps.show(contested)
	if _, err := b.writer.Do(t.Context(), steps); err == nil || errors.As(err, new(*ConflictError)) {
		t.Fatalf("%v", err)
	}
	_, err := b.writer.Do(t.Context(), steps[:1])
	if conflict, is := errors.AsType[*ConflictError](err); !is || !conflict.Conflicts[0].New {
		t.Errorf("%#v", err)
	}
}

// A shard that is scaled down and up again has no foreign change, whether it was removed
// or retained with a deadline.
func TestShardsThatComeBackAreNoConflict(t *testing.T) {
	for name, away := range map[string]func(*bench) Step{
		"removed": func(b *bench) Step { return Step{Verb: Remove, Object: statefulSet("", "a", owned)} },
		"kept": func(b *bench) Step {
			return Step{Verb: Annotate, Object: statefulSet("", "a", func(s *appsv1.StatefulSet) {
				s.Annotations = map[string]string{wellknown.ReservedPrefix + "deadline": "x"}
			})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.writer.OnOverwrite = func(string) { t.Error("undid what nobody did") }
			want := Step{Verb: Put, Object: statefulSet("", "a", owned)}
			for range 2 {
				if _, err := b.writer.Do(t.Context(), []Step{want}); err != nil {
					t.Fatal(err)
				}
				live := b.live(t)
				b.statefulSets.show(live)
				if _, err := b.writer.Do(t.Context(), []Step{away(b)}); err != nil {
					t.Fatal(err)
				}
				if live = b.live(t); live == nil {
					b.statefulSets.hide(want.Object.(*appsv1.StatefulSet))
					b.writer.StatefulSets().Forget(want.Object.(*appsv1.StatefulSet))
					continue
				}
				b.statefulSets.show(live)
			}
		})
	}
}

func owned(s *appsv1.StatefulSet) { s.OwnerReferences, s.Generation = controlledBy("web", "1"), 1 }

// live returns the StatefulSet in the API server, nil if there is none.
func (b *bench) live(t *testing.T) *appsv1.StatefulSet {
	t.Helper()
	all, err := b.kube.AppsV1().StatefulSets("ns").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Items) == 0 {
		return nil
	}
	return &all.Items[0]
}

// A webhook sets something else in each update. The input hash covers the live spec, so that the next one follows.
func TestAWebhookThatChangesEachWrite(t *testing.T) {
	live := statefulSet("5", "0", func(s *appsv1.StatefulSet) { s.Generation = 1 })
	b := newBench(t, live.DeepCopy())
	writes := 0
	b.kube.PrependReactor("update", "statefulsets", func(a clienttesting.Action) (bool, runtime.Object, error) {
		writes++
		live = a.(clienttesting.UpdateAction).GetObject().(*appsv1.StatefulSet).DeepCopy()
		live.Spec.Template.Annotations = map[string]string{"policy.example/at": strconv.Itoa(writes)}
		live.Generation, live.ResourceVersion = int64(writes+1), strconv.Itoa(100+writes)
		return true, live.DeepCopy(), nil
	})
	var err error
	for range 20 {
		b.statefulSets.show(live)
		want := statefulSet("", "of "+live.Spec.Template.Annotations["policy.example/at"])
		if _, err = b.writer.Do(t.Context(), []Step{{Verb: Put, Object: want}}); err != nil {
			break
		}
	}
	contested, other := Contested(err)
	if other != nil || len(contested) != 1 || contested[0].By != "an admission webhook that changes each write in another way" || writes != promptOverwrites+1 {
		t.Errorf("%d writes, then %v", writes, err)
	}
}
