package apply

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
)

// finalizersWritten returns the finalizers of the objects in all updates.
func finalizersWritten(t *testing.T, b *bench) (all [][]string) {
	t.Helper()
	for _, a := range b.kube.Actions() {
		if u, ok := a.(clienttesting.UpdateAction); ok {
			all = append(all, u.GetObject().(metav1.Object).GetFinalizers())
		}
	}
	return all
}

// Finalizers belong to others: each write keeps those of the replaced version, even if
// this version is only read after a conflict.
func TestWritesKeepFinalizers(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "web", ResourceVersion: "5"}
	for name, write := range map[string]func(t *testing.T) (*bench, metav1.Object, func() (Change, error)){
		"Secret": func(t *testing.T) (*bench, metav1.Object, func() (Change, error)) {
			server := secret("5", "old")
			b := newBench(t, server)
			b.secrets.show(DigestSecret(server.DeepCopy()))
			return b, server, func() (Change, error) { return b.writer.Secret(t.Context(), secret("", "new")) }
		},
		"ConfigMap": func(t *testing.T) (*bench, metav1.Object, func() (Change, error)) {
			server := &corev1.ConfigMap{ObjectMeta: meta}
			b := newBench(t, server)
			b.configMaps.show(server.DeepCopy())
			return b, server, func() (Change, error) {
				return b.writer.ConfigMap(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}, Data: map[string]string{"a": "b"}})
			}
		},
		"Service": func(t *testing.T) (*bench, metav1.Object, func() (Change, error)) {
			server := stored()
			b := newBench(t, server)
			b.services.show(server.DeepCopy())
			return b, server, func() (Change, error) {
				return b.writer.Service(t.Context(), service(func(s *corev1.Service) { s.Spec.Ports[0].Port = 80 }))
			}
		},
		"StatefulSet": func(t *testing.T) (*bench, metav1.Object, func() (Change, error)) {
			server := statefulSet("5", "1")
			b := newBench(t, server)
			b.statefulSets.show(server.DeepCopy())
			return b, server, func() (Change, error) { return b.writer.StatefulSet(t.Context(), statefulSet("", "2")) }
		},
		"DaemonSet": func(t *testing.T) (*bench, metav1.Object, func() (Change, error)) {
			server := &appsv1.DaemonSet{ObjectMeta: meta}
			b := newBench(t, server)
			b.daemonSets.show(server.DeepCopy())
			return b, server, func() (Change, error) {
				return b.writer.DaemonSet(t.Context(), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, conflict := range []bool{false, true} {
				b, server, put := write(t)
				want := [][]string{nil}
				if conflict { // the finalizer was added after the version in the cache
					server.SetFinalizers([]string{"backup.example.com/copy"})
					b.track(t, server)
					b.fail("update", apierrors.NewConflict(things, "web", nil))
					want = append(want, []string{"backup.example.com/copy"})
				}
				if change, err := put(); change != Updated || err != nil {
					t.Fatal(change, err)
				}
				if got := finalizersWritten(t, b); !slices.EqualFunc(want, got, slices.Equal) {
					t.Errorf("conflict %t: finalizers %v, want %v", conflict, got, want)
				}
			}
		})
	}
}

// After "kubectl delete --cascade=orphan" an update based on an older version in the
// cache must not remove the finalizer, which would delete the pods.
func TestDeletionSeenAfterAConflict(t *testing.T) {
	going := metav1.ObjectMeta{
		Namespace: "ns", Name: "web", UID: "u", ResourceVersion: "6", DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"orphan"},
	}
	conflict := apierrors.NewConflict(things, "web", nil)

	b := newBench(t, &appsv1.StatefulSet{ObjectMeta: going})
	b.statefulSets.show(statefulSet("5", "1"))
	b.fail("update", conflict)
	if change, err := b.writer.StatefulSet(t.Context(), statefulSet("", "2")); change != Unchanged || err != nil {
		t.Error(change, err)
	}
	if diff := cmp.Diff([]string{"update", "get"}, b.calls()); diff != "" {
		t.Errorf("calls: %s", diff)
	}

	b = newBench(t, &appsv1.DaemonSet{ObjectMeta: going})
	if change, err := b.writer.DaemonSet(t.Context(), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}}); change != Unchanged || err != nil {
		t.Error(change, err)
	}
	if diff := cmp.Diff([]string{"create", "get"}, b.calls()); diff != "" {
		t.Errorf("calls: %s", diff)
	}
}

// A Secret in deletion is still written, because pods read it until it disappears.
func TestContentIsWrittenWhileItIsBeingDeleted(t *testing.T) {
	going := func(s *corev1.Secret) {
		s.DeletionTimestamp, s.Finalizers = new(metav1.Now()), []string{"backup.example.com/copy"}
	}
	b := newBench(t, secret("5", "old", going))
	b.secrets.show(DigestSecret(secret("5", "old", going)))
	if change, err := b.writer.Secret(t.Context(), secret("", "new")); change != Updated || err != nil {
		t.Fatal(change, err)
	}
	if diff := cmp.Diff([][]string{{"backup.example.com/copy"}}, finalizersWritten(t, b)); diff != "" {
		t.Error(diff)
	}
}
