package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

func statefulSet(version, hash string, edit ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "web", UID: "u", ResourceVersion: version,
		Labels: map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy}, Annotations: map[string]string{wellknown.AnnotationInputHash: hash},
	}}
	for _, e := range edit {
		e(s)
	}
	return s
}

func TestStatefulSet(t *testing.T) {
	immutable := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, "web", field.ErrorList{
		field.Forbidden(field.NewPath("spec"), "updates to podManagementPolicy are forbidden"),
	})
	for name, tc := range map[string]struct {
		live      *appsv1.StatefulSet
		hidden    bool
		fail      map[string]error
		change    Change
		calls     []string
		recreated []string
		message   string
	}{
		"absent":                   {nil, false, nil, Created, []string{"create"}, nil, ""},
		"there without our labels": {statefulSet("5", "1", func(s *appsv1.StatefulSet) { s.Labels = nil }), true, nil, Updated, []string{"create", "get", "patch"}, nil, ""},
		"being deleted":            {statefulSet("5", "1", func(s *appsv1.StatefulSet) { s.DeletionTimestamp = new(metav1.Now()) }), false, nil, Unchanged, nil, nil, ""},
		"the wanted hash":          {statefulSet("5", "2"), false, nil, Unchanged, nil, nil, ""},
		"the wanted hash, but another serviceName": {statefulSet("5", "2", func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "x" }), false, map[string]error{"update": immutable},
			Deleted, []string{"update", "create", "delete"},
			[]string{`ns/web: Forbidden: updates to podManagementPolicy are forbidden: serviceName changes from "x" to "", and with it the pods' host names`}, ""},
		"the wanted hash, but another selector": {statefulSet("5", "2", func(s *appsv1.StatefulSet) { s.Spec.Selector = &metav1.LabelSelector{} }), false, map[string]error{"update": immutable},
			Deleted, []string{"update", "create", "delete"}, []string{"ns/web: Forbidden: updates to podManagementPolicy are forbidden: the selector changes"}, ""},
		"the wanted hash, and a volume claim template of others": {statefulSet("5", "2", func(s *appsv1.StatefulSet) {
			s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "x"}}}
		}), false, nil, Unchanged, nil, nil, ""},
		"another hash":               {statefulSet("5", "1"), false, nil, Updated, []string{"update"}, nil, ""},
		"a label of ours was edited": {statefulSet("5", "2", func(s *appsv1.StatefulSet) { s.Labels[wellknown.LabelManagedBy] = "them" }), false, nil, Updated, []string{"update"}, nil, ""},
		"a label of others":          {statefulSet("5", "2", func(s *appsv1.StatefulSet) { s.Labels["theirs"] = "x" }), false, nil, Unchanged, nil, nil, ""},
		"a reserved annotation":      {statefulSet("5", "2", func(s *appsv1.StatefulSet) { s.Annotations[wellknown.ReservedPrefix+"deletion-deadline"] = "x" }), false, nil, Updated, []string{"update"}, nil, ""},
		"an immutable field": {statefulSet("5", "1"), false, map[string]error{"update": immutable}, Deleted, []string{"update", "create", "delete"},
			[]string{"ns/web: Forbidden: updates to podManagementPolicy are forbidden: "}, ""},
		"an immutable field of the pods": {statefulSet("5", "1", func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "x" }), false, map[string]error{"update": immutable},
			Deleted, []string{"update", "create", "delete"},
			[]string{`ns/web: Forbidden: updates to podManagementPolicy are forbidden: serviceName changes from "x" to "", and with it the pods' host names`}, ""},
		"a new one would be refused too": {statefulSet("5", "1"), false, map[string]error{"update": immutable, "create": immutable}, "", []string{"update", "create"}, nil,
			`update StatefulSet "web": StatefulSet.apps "web" is invalid: spec: Forbidden: updates to podManagementPolicy are forbidden`},
		"a new one is not allowed": {statefulSet("5", "1"), false, map[string]error{"update": immutable, "create": apierrors.NewForbidden(things, "web", errors.New("no"))}, "",
			[]string{"update", "create"}, nil, `recreate StatefulSet "web", because an immutable field changes: things "web" is forbidden: no`},
		"a quota is full until the old one is deleted": {statefulSet("5", "1"), false, map[string]error{"update": immutable,
			"create": apierrors.NewForbidden(things, "web", errors.New("exceeded quota: sets, requested: count/statefulsets.apps=1, used: count/statefulsets.apps=1, limited: count/statefulsets.apps=1"))},
			Deleted, []string{"update", "create", "delete"}, []string{"ns/web: Forbidden: updates to podManagementPolicy are forbidden: "}, ""},
		"refused for another reason": {statefulSet("5", "1"), false, map[string]error{"update": apierrors.NewBadRequest("no")}, "", []string{"update"}, nil,
			`update StatefulSet "web": no`},
		"create is refused": {nil, false, map[string]error{"create": apierrors.NewForbidden(things, "web", errors.New("no"))}, "", []string{"create"}, nil,
			`create StatefulSet "web": things "web" is forbidden: no`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if tc.live != nil {
				b = newBench(t, tc.live.DeepCopy())
				if !tc.hidden {
					b.statefulSets.show(tc.live)
				}
			}
			for verb, err := range tc.fail {
				b.fail(verb, err)
			}
			change, err := b.writer.StatefulSet(t.Context(), statefulSet("", "2"))
			if (tc.message == "") != (err == nil) || err != nil && fmt.Sprint(err) != tc.message {
				t.Errorf("error %v, want %q", err, tc.message)
			}
			actions := b.kube.Actions()
			if diff := cmp.Diff(tc.calls, b.calls()); change != tc.change || diff != "" {
				t.Errorf("change %q, want %q; calls %s", change, tc.change, diff)
			}
			if diff := cmp.Diff(tc.recreated, b.recreated); diff != "" {
				t.Error(diff)
			}
			if change != Deleted {
				return
			}
			trial := actions[1].(clienttesting.CreateActionImpl).CreateOptions.DryRun
			if diff := cmp.Diff([]string{metav1.DryRunAll}, trial); diff != "" {
				t.Errorf("it is created before the old one is deleted: %s", diff)
			}
			// In every case, the garbage collector must not delete the claims.
			opts := actions[2].(clienttesting.DeleteActionImpl).DeleteOptions
			if p := opts.PropagationPolicy; p == nil || *p != metav1.DeletePropagationOrphan || *opts.Preconditions.UID != "u" {
				t.Errorf("delete options %+v", opts)
			}
			// While the cache still has the old object, it is neither deleted nor created again.
			if change, err := b.writer.StatefulSet(t.Context(), statefulSet("", "2")); change != Unchanged || err != nil || b.calls() != nil {
				t.Errorf("while it goes: %s, %v", change, err)
			}
		})
	}
}

func TestAdoptionPatchesLabelsOnly(t *testing.T) {
	b := newBench(t, statefulSet("5", "1", func(s *appsv1.StatefulSet) { s.Labels = nil }))
	if _, err := b.writer.StatefulSet(t.Context(), statefulSet("", "2")); err != nil {
		t.Fatal(err)
	}
	patch := b.kube.Actions()[2].(clienttesting.PatchAction)
	var got any
	if err := json.Unmarshal(patch.GetPatch(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"metadata": map[string]any{"labels": map[string]any{wellknown.LabelManagedBy: wellknown.ManagedBy}}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Error(diff)
	}
}

// "kubectl rollout restart" works by an annotation of the pod template.
func TestUpdateKeepsAnnotationsOfKubectl(t *testing.T) {
	live := statefulSet("5", "1", func(s *appsv1.StatefulSet) {
		s.Spec.Template.Annotations = map[string]string{
			"kubectl.kubernetes.io/restartedAt": "now", "kubectl.kubernetes.io/default-container": "theirs", "other": "x",
		}
	})
	b := newBench(t, live.DeepCopy())
	b.statefulSets.show(live)
	want := statefulSet("", "2", func(s *appsv1.StatefulSet) {
		s.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "prometheus"}
	})
	if _, err := b.writer.StatefulSet(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got, err := b.kube.AppsV1().StatefulSets("ns").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{
		"kubectl.kubernetes.io/restartedAt": "now", "kubectl.kubernetes.io/default-container": "theirs",
	}, got.Spec.Template.Annotations); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"kubectl.kubernetes.io/default-container": "prometheus"}, want.Spec.Template.Annotations); diff != "" {
		t.Errorf("the wanted object was changed: %s", diff)
	}
}

// The StatefulSet of a removed shard owns its claims if they are to be deleted with the
// workload. Deleting it must not delete them.
func TestDeleteStatefulSetLeavesClaims(t *testing.T) {
	claims := func(s *appsv1.StatefulSet) {
		s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "db"}}}
	}
	owners := []metav1.OwnerReference{{Kind: "Prometheus", Name: "web", UID: "p"}}
	owned := func(s *appsv1.StatefulSet) { s.OwnerReferences = owners }
	for name, tc := range map[string]struct {
		live *appsv1.StatefulSet
		want metav1.DeletionPropagation
	}{
		"with claims":    {statefulSet("5", "1", owned, claims), metav1.DeletePropagationOrphan},
		"without claims": {statefulSet("5", "1", owned), metav1.DeletePropagationForeground},
	} {
		b := newBench(t, tc.live)
		b.statefulSets.show(tc.live.DeepCopy())
		if done, err := b.writer.Do(t.Context(), []Step{{Verb: Remove, Object: statefulSet("", "", owned)}}); err != nil || done[0].Change != Deleted {
			t.Fatal(done, err)
		}
		opts := b.kube.Actions()[0].(clienttesting.DeleteActionImpl).DeleteOptions
		if p := opts.PropagationPolicy; p == nil || *p != tc.want {
			t.Errorf("%s: propagation %v, want %s", name, p, tc.want)
		}
		if opts.Preconditions == nil || opts.Preconditions.UID == nil || *opts.Preconditions.UID != tc.live.UID {
			t.Errorf("%s: another StatefulSet of the name would go: %v", name, opts.Preconditions)
		}
	}
}

// A StatefulSet that was created by others with our hash lacks a claim template.
func TestTheWantedHashWithoutAClaimTemplate(t *testing.T) {
	live := statefulSet("5", "2")
	b := newBench(t, live.DeepCopy())
	b.statefulSets.show(live)
	want := statefulSet("", "2", func(s *appsv1.StatefulSet) {
		s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "db"}}}
	})
	if change, err := b.writer.StatefulSet(t.Context(), want); change != Updated || err != nil {
		t.Errorf("%s, %v", change, err)
	}
}

// A StatefulSet of another owner is not changed, not even its labels.
func TestAdoptLeavesForeignStatefulSetsAlone(t *testing.T) {
	owner := func(name, uid string) func(*appsv1.StatefulSet) {
		return func(s *appsv1.StatefulSet) {
			s.OwnerReferences = []metav1.OwnerReference{{Kind: "Prometheus", Name: name, UID: types.UID(uid), Controller: new(true)}}
		}
	}
	b := newBench(t, statefulSet("5", "1", owner("other", "o"))) // not in the cache
	_, err := b.writer.StatefulSet(t.Context(), statefulSet("", "1", owner("web", "p")))
	if _, foreign := errors.AsType[*ForeignError](err); !foreign {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"create", "get"}, b.calls()); diff != "" {
		t.Error(diff)
	}
}

func TestAnnotateStatefulSet(t *testing.T) {
	live := statefulSet("5", "1")
	b := newBench(t, live)
	o := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Annotations: map[string]string{"a": "b"}}}
	if done, err := b.writer.Do(t.Context(), []Step{{Verb: Annotate, Object: o}}); err != nil || done[0].Change != Updated {
		t.Fatal(done, err)
	}
	got, err := b.kube.AppsV1().StatefulSets("ns").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || got.Annotations["a"] != "b" || got.Annotations[wellknown.AnnotationInputHash] != "1" {
		t.Errorf("annotations %v, %v", got.Annotations, err)
	}
}

// No other change affects the history limit.
func TestUpdateKeepsTheHistoryLimit(t *testing.T) {
	live := statefulSet("5", "1", func(s *appsv1.StatefulSet) { s.Spec.RevisionHistoryLimit = new(int32(3)) })
	b := newBench(t, live.DeepCopy())
	b.statefulSets.show(live)
	if change, err := b.writer.StatefulSet(t.Context(), statefulSet("", "2")); change != Updated || err != nil {
		t.Fatal(change, err)
	}
	if got, _ := b.writer.StatefulSets().Get("ns", "web"); got.Spec.RevisionHistoryLimit == nil || *got.Spec.RevisionHistoryLimit != 3 {
		t.Errorf("history limit %v", got.Spec.RevisionHistoryLimit)
	}
}
