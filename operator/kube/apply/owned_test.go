package apply

import (
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

func controlledBy(name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "monitoring.coreos.com/v1", Kind: "Prometheus", Name: name, UID: uid, Controller: new(true)}}
}

// Objects of another workload whose names collide are not overwritten.
func TestPutLeavesForeignObjectsAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		owners []metav1.OwnerReference // of the live object
		edit   func(*corev1.Secret)
		hidden bool
		calls  []string
		wrong  bool
	}{
		"nobody's":                   {nil, nil, false, []string{"update"}, false},
		"ours":                       {controlledBy("web", "1"), nil, false, []string{"update"}, false},
		"of a predecessor":           {controlledBy("web", "0"), nil, false, []string{"update"}, false},
		"another's":                  {controlledBy("web-config-part-1", "2"), nil, false, nil, true},
		"another's, without labels":  {controlledBy("web-config-part-1", "2"), nil, true, []string{"create", "get"}, true},
		"another's, and immutable":   {controlledBy("web-config-part-1", "2"), func(s *corev1.Secret) { s.Immutable = new(true) }, false, nil, true},
		"nobody's, without labels":   {nil, nil, true, []string{"create", "get", "update"}, false},
		"nobody's, of another type":  {nil, func(s *corev1.Secret) { s.Type = corev1.SecretTypeTLS }, false, []string{"create", "delete", "create"}, false},
		"of another type, no labels": {nil, func(s *corev1.Secret) { s.Type = corev1.SecretTypeTLS }, true, []string{"create", "get"}, true},
		"immutable, without labels":  {nil, func(s *corev1.Secret) { s.Immutable = new(true) }, true, []string{"create", "get"}, true},
		"another's, the same values": {controlledBy("web-config-part-1", "2"), func(s *corev1.Secret) { s.Data["key"] = []byte("new") }, false, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			live := secret("5", "old", func(s *corev1.Secret) { s.OwnerReferences = tc.owners })
			if tc.edit != nil {
				tc.edit(live)
			}
			if tc.hidden {
				live.Labels = nil
			}
			b := newBench(t, live)
			if !tc.hidden {
				b.secrets.show(DigestSecret(live))
			}
			want := secret("", "new", func(s *corev1.Secret) { s.OwnerReferences = controlledBy("web", "1") })
			_, err := b.writer.Do(t.Context(), []Step{{Verb: Put, Object: want}})
			foreign, wrong := errors.AsType[*ForeignError](err)
			if wrong != tc.wrong || wrong && foreign.Owner != "" && foreign.Owner != "Prometheus web-config-part-1" || !wrong && err != nil {
				t.Errorf("error %v", err)
			}
			if calls := b.calls(); !slices.Equal(calls, tc.calls) {
				t.Errorf("calls %v, want %v", calls, tc.calls)
			}
		})
	}
}

// A StatefulSet of another workload whose name collides with that of a shard does not block the other shards, but
// nothing is removed until it is deleted. A Secret of another workload blocks the objects that may refer to it.
func TestForeignShardLeavesTheOthers(t *testing.T) {
	set := func(name string, owners []metav1.OwnerReference) *appsv1.StatefulSet {
		return statefulSet("5", "1", func(s *appsv1.StatefulSet) { s.Name, s.OwnerReferences = name, owners })
	}
	ours, foreign := controlledBy("web", "1"), controlledBy("web-shard-1", "2")
	surplus, taken := set("web-shard-4", ours), set("web-shard-1", foreign)
	taken.UID = "another"
	secrets := secret("5", "old", func(s *corev1.Secret) { s.OwnerReferences = foreign })
	b := newBench(t, surplus, taken, secrets)
	b.statefulSets.show(surplus)
	b.statefulSets.show(taken)
	b.secrets.show(DigestSecret(secrets))
	put := func(o Object) Step { return Step{Verb: Put, Object: o} }
	steps := []Step{put(set("web", ours)), put(set("web-shard-1", ours)), put(set("web-shard-2", ours)), {Verb: Remove, Object: surplus}, put(set("web-shard-3", ours))}
	done, err := b.writer.Do(t.Context(), steps)
	if e, is := errors.AsType[*ForeignError](err); !is || e.Name != "web-shard-1" || e.Owner != "Prometheus web-shard-1" {
		t.Errorf("error %v", err)
	}
	if calls := b.calls(); len(done) != 3 || !slices.Equal(calls, []string{"create", "create", "create"}) {
		t.Errorf("%d steps, calls %v", len(done), calls)
	}
	other := errors.New("no answer")
	b.fail("create", other)
	if _, err := b.writer.Do(t.Context(), []Step{put(set("web-shard-1", ours)), put(set("web-shard-5", ours))}); !errors.Is(err, other) {
		t.Errorf("another failure gives %v", err) // it is repeated sooner
	}
	b.kube.ClearActions()
	steps = []Step{put(secret("", "new", func(s *corev1.Secret) { s.OwnerReferences = ours })), put(set("web-shard-6", ours))}
	if _, err := b.writer.Do(t.Context(), steps); err == nil || len(b.calls()) > 0 {
		t.Errorf("a foreign Secret: calls %v, %v", b.calls(), err)
	}
}

func TestRemoveLeavesForeignObjectsAlone(t *testing.T) {
	meta := func(owners []metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "x", ResourceVersion: "5", OwnerReferences: owners}
	}
	for kind, of := range map[string]func([]metav1.OwnerReference) Object{
		"Secret":      func(o []metav1.OwnerReference) Object { return &corev1.Secret{ObjectMeta: meta(o)} },
		"ConfigMap":   func(o []metav1.OwnerReference) Object { return &corev1.ConfigMap{ObjectMeta: meta(o)} },
		"StatefulSet": func(o []metav1.OwnerReference) Object { return &appsv1.StatefulSet{ObjectMeta: meta(o)} },
		"DaemonSet":   func(o []metav1.OwnerReference) Object { return &appsv1.DaemonSet{ObjectMeta: meta(o)} },
	} {
		for name, tc := range map[string]struct {
			live Object
			want Change
		}{
			"ours":             {of(controlledBy("web", "1")), Deleted},
			"nobody's":         {of(nil), Unchanged},
			"another's":        {of(controlledBy("other", "2")), Unchanged},
			"of a predecessor": {of(controlledBy("web", "0")), Unchanged},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				b := newBench(t, tc.live)
				switch o := tc.live.(type) {
				case *corev1.Secret:
					b.secrets.show(o)
				case *corev1.ConfigMap:
					b.configMaps.show(o)
				case *appsv1.StatefulSet:
					b.statefulSets.show(o)
				case *appsv1.DaemonSet:
					b.daemonSets.show(o)
				}
				done, err := b.writer.Do(t.Context(), []Step{{Verb: Remove, Object: of(controlledBy("web", "1"))}})
				if err != nil || done[0].Change != tc.want || (len(b.calls()) > 0) != (tc.want == Deleted) {
					t.Errorf("%v, %v", done, err)
				}
			})
		}
	}
}

// A Secret that cannot be updated is not deleted before the API server would accept its successor, and not if it was
// replaced by another owner's since the cache saw it.
func TestReplacementOfAFrozenSecret(t *testing.T) {
	frozen := func(uid types.UID, owner string) *corev1.Secret {
		return secret("5", "old", func(s *corev1.Secret) {
			s.UID, s.Immutable, s.OwnerReferences = uid, new(true), controlledBy(owner, uid)
		})
	}
	for name, tc := range map[string]struct {
		live   *corev1.Secret
		create error
		wrong  bool
	}{
		"it is accepted":               {frozen("1", "web"), nil, false},
		"a policy denies it":           {frozen("1", "web"), apierrors.NewForbidden(things, "web", errors.New("denied by a policy")), true},
		"a quota has no room for it":   {frozen("1", "web"), apierrors.NewForbidden(things, "web", errors.New("exceeded quota: few")), true},
		"another's has taken its name": {frozen("2", "other"), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.live)
			b.secrets.show(DigestSecret(frozen("1", "web")))
			b.kube.PrependReactor("delete", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
				is := a.(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions
				if is == nil || is.UID == nil || *is.UID != tc.live.UID {
					return true, nil, apierrors.NewConflict(things, "web", errors.New("the UID is another"))
				}
				return false, nil, nil
			})
			if tc.create != nil {
				b.fail("create", tc.create)
			}
			_, err := b.writer.Secret(t.Context(), secret("", "new", func(s *corev1.Secret) { s.OwnerReferences = controlledBy("web", "1") }))
			got, read := b.kube.CoreV1().Secrets("ns").Get(t.Context(), "web", metav1.GetOptions{})
			if (err != nil) != tc.wrong || read != nil || (string(got.Data["key"]) == "old") != tc.wrong {
				t.Errorf("error %v; then %v, %v", err, got, read)
			}
		})
	}
}

// A StatefulSet that the operator has not made keeps its labels and its pods.
func TestStatefulSetOfAnApplication(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*appsv1.StatefulSet)
		calls []string
		wrong bool
	}{
		"a release of Helm": {func(s *appsv1.StatefulSet) {
			s.Labels = map[string]string{wellknown.LabelAppManagedBy: "Helm"}
			s.Annotations = nil
		}, []string{"create", "get"}, true},
		"ours, whose labels were removed":   {func(s *appsv1.StatefulSet) { s.Labels = nil }, []string{"create", "get", "patch"}, false},
		"of the workload, without the hash": {func(s *appsv1.StatefulSet) { s.Annotations, s.OwnerReferences = nil, controlledBy("web", "1") }, []string{"create", "get", "patch"}, false},
		"of another workload":               {func(s *appsv1.StatefulSet) { s.OwnerReferences = controlledBy("other", "2") }, []string{"create", "get"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			live := statefulSet("5", "old", tc.edit)
			b := newBench(t, live)
			want := statefulSet("", "new", func(s *appsv1.StatefulSet) { s.OwnerReferences = controlledBy("web", "1") })
			_, err := b.writer.StatefulSet(t.Context(), want)
			if _, foreign := errors.AsType[*ForeignError](err); foreign != tc.wrong || err != nil && !foreign {
				t.Errorf("error %v", err)
			}
			if calls := b.calls(); !slices.Equal(calls, tc.calls) {
				t.Errorf("calls %v, want %v", calls, tc.calls)
			}
		})
	}
}
