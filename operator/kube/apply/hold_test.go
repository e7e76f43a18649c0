package apply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// pods returns an edit of the template: the images of prometheus, the reloader, and the init reloader.
func pods(server, reloader, start string, args ...string) func(*appsv1.StatefulSet) {
	return func(s *appsv1.StatefulSet) {
		s.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "init", Image: start}}
		s.Spec.Template.Spec.Containers = []corev1.Container{{Name: "prometheus", Image: server, Args: args}, {Name: "reloader", Image: reloader}}
	}
}

func imagesOf(t *testing.T, b *bench) map[string]string {
	t.Helper()
	got, err := b.kube.AppsV1().StatefulSets("ns").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.calls()
	images := map[string]string{}
	for name, c := range containers(&got.Spec.Template.Spec) {
		images[name] = c.Image
	}
	return images
}

// probed returns an edit that adds a probe with this command to the reloader.
func probed(edit func(*appsv1.StatefulSet), command ...string) func(*appsv1.StatefulSet) {
	return func(s *appsv1.StatefulSet) {
		edit(s)
		s.Spec.Template.Spec.Containers[1].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}}
	}
}

func TestImagesThatAloneReplaceNoPods(t *testing.T) {
	old := map[string]string{"prometheus": "p:1", "reloader": "r:1", "init": "r:1"}
	fresh := map[string]string{"prometheus": "p:1", "reloader": "r:2", "init": "r:2"}
	for name, tc := range map[string]struct {
		want  func(*appsv1.StatefulSet)
		calls []string
		got   map[string]string
		edit  func(live *appsv1.StatefulSet)
	}{
		"only the reloader, with a probe that its image needs": {probed(pods("p:1", "r:2", "r:2"), "/bin/r", "--probe=http://localhost/"), []string{"update", "update"}, old,
			probed(func(*appsv1.StatefulSet) {}, "sh", "-c", "curl")},
		"and another probe of the user": {probed(pods("p:1", "r:2", "r:2"), "mine"), []string{"update", "update"}, fresh,
			probed(func(*appsv1.StatefulSet) {}, "sh", "-c", "curl")},
		"and its first probe":      {probed(pods("p:1", "r:2", "r:2"), "/bin/r", "--probe=http://localhost/"), []string{"update", "update"}, fresh, nil},
		"nothing changed":          {pods("p:1", "r:1", "r:1"), []string{"update"}, old, nil},
		"only the reloader":        {pods("p:1", "r:2", "r:2"), []string{"update", "update"}, old, nil},
		"and an argument":          {pods("p:1", "r:2", "r:2", "--new"), []string{"update", "update"}, fresh, nil},
		"and another image":        {pods("p:2", "r:2", "r:2"), []string{"update", "update"}, map[string]string{"prometheus": "p:2", "reloader": "r:2", "init": "r:2"}, nil},
		"an image the user chose":  {pods("p:1", "mine", "r:1"), []string{"update"}, map[string]string{"prometheus": "p:1", "reloader": "mine", "init": "r:1"}, nil},
		"a rollout has begun":      {pods("p:1", "r:2", "r:2"), []string{"update"}, fresh, func(live *appsv1.StatefulSet) { live.Status.UpdateRevision = "new" }},
		"a rollout will begin":     {pods("p:1", "r:2", "r:2"), []string{"update"}, fresh, func(live *appsv1.StatefulSet) { live.Generation = 2 }},
		"one chosen, one followed": {pods("p:1", "mine", "r:2"), []string{"update", "update"}, map[string]string{"prometheus": "p:1", "reloader": "mine", "init": "r:2"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			live := statefulSet("5", "1", pods("p:1", "r:1", "r:1"))
			if tc.edit != nil {
				tc.edit(live)
			}
			b := newBench(t, live.DeepCopy())
			b.statefulSets.show(live)
			b.writer.HoldImages = []string{"r:2"}
			want := statefulSet("", "2", tc.want)
			before := want.DeepCopy()
			if _, err := b.writer.StatefulSet(t.Context(), want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.calls, b.calls()); diff != "" {
				t.Errorf("calls: %s", diff)
			}
			if diff := cmp.Diff(tc.got, imagesOf(t, b)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, want); diff != "" {
				t.Errorf("the wanted object was changed: %s", diff)
			}
		})
	}
}

// A StatefulSet that is recreated for its claims does not replace the pods that it adopts.
func TestCreatedAgainWithTheSameTemplate(t *testing.T) {
	live := statefulSet("5", "1", pods("p:1", "r:1", "r:1"), func(s *appsv1.StatefulSet) {
		s.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}
	})
	b := newBench(t, live.DeepCopy())
	b.statefulSets.show(live)
	b.writer.HoldImages = []string{"r:2"}
	immutable := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, "web", nil)
	want := statefulSet("", "2", pods("p:1", "r:2", "r:2"))
	updates := 0
	b.kube.PrependReactor("update", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		updates++
		if updates == 2 { // the dry run succeeds, the update fails
			return true, nil, immutable
		}
		return false, nil, nil
	})
	if change, err := b.writer.StatefulSet(t.Context(), want); change != Deleted || err != nil {
		t.Fatal(change, err)
	}
	delete(b.statefulSets, "ns/web")
	b.writer.StatefulSets().Forget(live)
	b.calls()
	for range 2 { // the record survives failing creates
		b.fail("create", apierrors.NewServiceUnavailable("busy"))
		if _, err := b.writer.StatefulSet(t.Context(), want); err == nil {
			t.Fatal("the failure is gone")
		}
	}
	if change, err := b.writer.StatefulSet(t.Context(), want); change != Created || err != nil {
		t.Fatal(change, err)
	}
	got, err := b.kube.AppsV1().StatefulSets("ns").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(live.Spec.Template, got.Spec.Template); diff != "" {
		t.Error(diff)
	}
	if _, again := b.writer.orphans.take(catalog.KeyOf(live)); again {
		t.Error("what was left behind is still remembered")
	}
}

// A later workload with the same name does not get the held-back images of the earlier one.
func TestALaterOwnerKeepsNoImage(t *testing.T) {
	for uid, want := range map[types.UID]string{"1": "r:1", "2": "r:2"} {
		b := newBench(t)
		b.writer.HoldImages = []string{"r:2"}
		b.writer.orphans.keep(statefulSet("5", "1", owned, pods("p:1", "r:1", "r:1")), true)
		sts := statefulSet("", "2", pods("p:1", "r:2", "r:2"))
		sts.OwnerReferences = controlledBy("web", uid)
		if _, err := b.writer.StatefulSet(t.Context(), sts); err != nil {
			t.Fatal(err)
		}
		for name, image := range imagesOf(t, b) {
			if strings.HasPrefix(image, "r:") && image != want {
				t.Errorf("owner %s: %s has %s, want %s", uid, name, image, want)
			}
		}
	}
}

// Pods that are replaced one by one after a recreation get the wanted images.
func TestPodsThatAreReplacedKeepNoImage(t *testing.T) {
	live := statefulSet("5", "1", pods("p:1", "r:1", "r:1"), func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "old" })
	b := newBench(t, live.DeepCopy())
	b.statefulSets.show(live)
	b.writer.HoldImages = []string{"r:2"}
	want := statefulSet("", "2", pods("p:1", "r:2", "r:2"))
	updates := 0
	b.kube.PrependReactor("update", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		updates++
		return updates == 2, nil, apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, "web", nil)
	})
	if change, err := b.writer.StatefulSet(t.Context(), want); change != Deleted || err != nil {
		t.Fatal(change, err)
	}
	delete(b.statefulSets, "ns/web")
	b.writer.StatefulSets().Forget(live)
	if change, err := b.writer.StatefulSet(t.Context(), want); change != Created || err != nil {
		t.Fatal(change, err)
	}
	if diff := cmp.Diff(map[string]string{"prometheus": "p:1", "reloader": "r:2", "init": "r:2"}, imagesOf(t, b)); diff != "" {
		t.Error(diff)
	}
}
