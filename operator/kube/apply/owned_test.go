package apply

import (
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
		"nobody's, of another type":  {nil, func(s *corev1.Secret) { s.Type = corev1.SecretTypeTLS }, false, []string{"delete", "create"}, false},
		"of another type, no labels": {nil, func(s *corev1.Secret) { s.Type = corev1.SecretTypeTLS }, true, []string{"create", "get"}, true},
		"immutable, without labels":  {nil, func(s *corev1.Secret) { s.Immutable = new(true) }, true, []string{"create", "get"}, true},
		"another's, the same values": {controlledBy("web-config-part-1", "2"), func(s *corev1.Secret) { s.Data["key"] = []byte("new") }, false, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			live := secret("5", "old", func(s *corev1.Secret) { s.OwnerReferences = tc.owners })
			if tc.edit != nil {
				tc.edit(live)
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
