package discovery

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// apiList is a list of the API.
type apiList interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// shortened decodes the items of a list that was encoded and shortened.
func shortened[L apiList](t *testing.T, role string, list, into L) {
	t.Helper()
	text, err := list.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	short, err := Shorten(role, slices.Clone(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := into.Unmarshal(short); err != nil {
		t.Fatal(err)
	}
	if len(short) >= len(text) {
		t.Errorf("role %s: %d of %d bytes are kept", role, len(short), len(text))
	}
}

// A shortened list equals a list of trimmed objects.
func TestShortenedListsAreTrimmed(t *testing.T) {
	for seed := range int64(20) {
		var pods, shortPods corev1.PodList
		var nodes, shortNodes corev1.NodeList
		var services, shortServices corev1.ServiceList
		var ingresses, shortIngresses networkingv1.IngressList
		randomObjects(seed, func(o Object) {
			switch o := o.(type) {
			case *corev1.Pod:
				pods.Items = append(pods.Items, *o)
			case *corev1.Node:
				nodes.Items = append(nodes.Items, *o)
			case *corev1.Service:
				services.Items = append(services.Items, *o)
			case *networkingv1.Ingress:
				ingresses.Items = append(ingresses.Items, *o)
			}
		})
		pods.Continue = "next"
		shortened(t, rolePod, &pods, &shortPods)
		shortened(t, roleNode, &nodes, &shortNodes)
		shortened(t, roleService, &services, &shortServices)
		shortened(t, roleIngress, &ingresses, &shortIngresses)
		if shortPods.Continue != "next" {
			t.Error("the list lost its continue token")
		}
		same := func(want, got Object) {
			t.Helper()
			_, want = trim(want)
			want.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // is not part of items
			_, trimmed := trim(got)
			// Differences that the encoding does not preserve, like empty and missing lists, are
			// ignored.
			if !equality.Semantic.DeepEqual(want, trimmed) {
				t.Errorf("seed %d: (-trimmed +shortened)\n%s", seed, cmp.Diff(want, trimmed))
			}
			if pod, ok := got.(*corev1.Pod); ok && (pod.Spec.Volumes != nil || pod.ManagedFields != nil) {
				t.Error("volumes or managed fields of a pod are kept")
			}
		}
		for i := range pods.Items {
			same(&pods.Items[i], &shortPods.Items[i])
			same(&nodes.Items[i], &shortNodes.Items[i])
			same(&services.Items[i], &shortServices.Items[i])
			same(&ingresses.Items[i], &shortIngresses.Items[i])
		}
	}
}

// Input that is not a message is rejected without reading beyond its end.
func FuzzShorten(f *testing.F) {
	list := corev1.PodList{Items: []corev1.Pod{{Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Command: []string{"a"}}}}}}}
	text, err := list.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte{})
	f.Add(text[:len(text)-1])
	f.Add([]byte{0x12, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, text []byte) {
		whole := slices.Clone(text)
		short, err := Shorten(rolePod, text)
		if err != nil {
			return
		}
		if len(short) > len(whole) {
			t.Fatalf("%d bytes became %d", len(whole), len(short))
		}
		var before, after corev1.PodList
		if before.Unmarshal(whole) == nil && after.Unmarshal(short) != nil {
			t.Fatal("it cannot be read any more")
		}
	})
}
