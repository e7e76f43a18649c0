package apply

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

func daemonSet(version string, edit ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "web", UID: "u", ResourceVersion: version, Generation: 1, Labels: map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy},
	}}
	d.Spec.MinReadySeconds = 5
	for _, e := range edit {
		e(d)
	}
	return d
}

func TestDaemonSet(t *testing.T) {
	immutable := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "DaemonSet"}, "web", field.ErrorList{
		field.Invalid(field.NewPath("spec", "selector"), nil, "field is immutable"),
	})
	going := func(d *appsv1.DaemonSet) { d.DeletionTimestamp = new(metav1.Now()) }
	for name, tc := range map[string]struct {
		live    *appsv1.DaemonSet
		hidden  bool // not in the cache
		fail    map[string]error
		change  Change
		calls   []string
		message string
	}{
		"absent":                           {nil, false, nil, Created, []string{"create"}, ""},
		"there without our labels":         {daemonSet("5"), true, nil, Updated, []string{"create", "get", "update"}, ""},
		"of an operator before":            {daemonSet("5"), false, nil, Updated, []string{"update"}, ""},
		"being deleted":                    {daemonSet("5", going), false, nil, Unchanged, nil, ""},
		"an immutable field":               {daemonSet("5"), false, map[string]error{"update": immutable}, Deleted, []string{"update", "delete"}, ""},
		"refused for another reason":       {daemonSet("5"), false, map[string]error{"update": apierrors.NewBadRequest("no")}, "", []string{"update"}, `update DaemonSet "web": no`},
		"what is created is wrong":         {nil, false, map[string]error{"create": immutable}, "", []string{"create"}, `create DaemonSet "web": ` + immutable.Error()},
		"create is refused, nothing shown": {nil, false, map[string]error{"create": errors.New("no")}, "", []string{"create"}, `create DaemonSet "web": no`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if tc.live != nil {
				b = newBench(t, tc.live.DeepCopy())
				if !tc.hidden {
					b.daemonSets.show(tc.live)
				}
			}
			for verb, err := range tc.fail {
				b.fail(verb, err)
			}
			change, err := b.writer.DaemonSet(t.Context(), daemonSet(""))
			if (tc.message == "") != (err == nil) || err != nil && err.Error() != tc.message {
				t.Errorf("error %v, want %q", err, tc.message)
			}
			if diff := cmp.Diff(tc.calls, b.calls()); change != tc.change || diff != "" {
				t.Errorf("change %q, want %q; calls %s", change, tc.change, diff)
			}
		})
	}
}

// A DaemonSet has no hash, so that its written spec is remembered.
func TestDaemonSetIsWrittenOnce(t *testing.T) {
	b := newBench(t)
	write := func(what string, want Change, edit ...func(*appsv1.DaemonSet)) {
		t.Helper()
		got, err := b.writer.DaemonSet(t.Context(), daemonSet("", edit...))
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", what, got, err, want)
		}
	}
	write("first", Created)
	write("the cache is behind", Unchanged)
	live, err := b.kube.AppsV1().DaemonSets("ns").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.daemonSets.show(live)
	write("the cache has it", Unchanged)
	status := live.DeepCopy()
	status.ResourceVersion, status.Status.NumberReady = "300", 3
	b.daemonSets.show(status)
	write("another status", Unchanged)
	write("another spec is wanted", Updated, func(d *appsv1.DaemonSet) { d.Spec.MinReadySeconds = 6 })
	write("the first spec again", Updated)

	edited := status.DeepCopy()
	edited.ResourceVersion, edited.Generation = "400", 2
	edited.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}
	b.daemonSets.show(edited)
	write("somebody edited the spec", Updated)
	now, err := b.kube.AppsV1().DaemonSets("ns").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || now.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] != "now" {
		t.Errorf("the restart that kubectl asked for is lost: %v, %v", now.Spec.Template.Annotations, err)
	}
	relabelled := now.DeepCopy()
	relabelled.ResourceVersion, relabelled.Labels[wellknown.LabelManagedBy] = "500", "them"
	b.daemonSets.show(relabelled)
	write("somebody edited a label", Updated)

	b.writer.ForgetDaemonSet(now)
	if n := len(b.writer.nodes.made); n != 0 {
		t.Errorf("%d are remembered after the deletion", n)
	}
}

func TestReleaseService(t *testing.T) {
	ref := func(name string) metav1.OwnerReference {
		return metav1.OwnerReference{Kind: "PrometheusAgent", Name: name, UID: types.UID("uid of " + name)}
	}
	for name, tc := range map[string]struct {
		owners []metav1.OwnerReference
		absent bool
		fail   map[string]error
		change Change
		calls  []string
		broken bool
	}{
		"the last owner": {[]metav1.OwnerReference{ref("us")}, false, nil, Deleted, []string{"delete"}, false},
		"one of two":     {[]metav1.OwnerReference{ref("us"), ref("other")}, false, nil, Updated, []string{"update"}, false},
		"not ours":       {[]metav1.OwnerReference{ref("other")}, false, nil, Unchanged, nil, false},
		"nobody's":       {nil, false, nil, Unchanged, nil, false},
		"there is none":  {nil, true, nil, Unchanged, nil, false},
		"another one came meanwhile": {[]metav1.OwnerReference{ref("us"), ref("other")}, false,
			map[string]error{"update": apierrors.NewConflict(things, "shared", errors.New("changed"))}, "", []string{"update"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			live := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "shared", ResourceVersion: "5", OwnerReferences: tc.owners}}
			b := newBench(t, live.DeepCopy())
			if !tc.absent {
				b.services.show(live)
			}
			for verb, err := range tc.fail {
				b.fail(verb, err)
			}
			done, err := b.writer.Do(t.Context(), []Step{{Verb: Release, Object: &corev1.Service{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "shared", OwnerReferences: []metav1.OwnerReference{ref("us")},
			}}}})
			if (err != nil) != tc.broken || !tc.broken && done[0].Change != tc.change {
				t.Errorf("done %v, %v, want %q", done, err, tc.change)
			}
			if diff := cmp.Diff(tc.calls, b.calls()); diff != "" {
				t.Error(diff)
			}
			if len(live.OwnerReferences) != len(tc.owners) {
				t.Error("the cached object was changed")
			}
		})
	}
}
