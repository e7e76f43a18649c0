package engine

import (
	"strings"
	"testing"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestFilesAreinterned(t *testing.T) {
	configMap := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "own", Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: "ThanosRuler", Name: "a"}}},
			Data:       map[string]string{"a.yaml": strings.Repeat("groups: []\n", 100)},
		}
	}
	var all interned
	want := configMap("x").Data["a.yaml"]
	first, second := all.share(configMap("first")), all.share(configMap("second"))
	again := all.share(first) // informers may transform an object twice
	for _, m := range []*corev1.ConfigMap{second, again} {
		if m.Data["a.yaml"] != want {
			t.Error("the content differs")
		}
		if unsafe.StringData(m.Data["a.yaml"]) != unsafe.StringData(first.Data["a.yaml"]) {
			t.Error("the content is not shared")
		}
	}
	for _, m := range []*corev1.ConfigMap{first, second} {
		all.forget(types.NamespacedName{Namespace: m.Namespace, Name: m.Name})
	}
	if len(all.held) != 0 {
		t.Errorf("%d ConfigMaps are still held", len(all.held))
	}
}

// TestConfigMapsOfNobody: any client may create a ConfigMap with our labels; its files are not cached.
func TestConfigMapsOfNobody(t *testing.T) {
	var all interned
	got := all.share(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b", Annotations: map[string]string{"a": "b"}},
		Data:       map[string]string{"a": "b"}, BinaryData: map[string][]byte{"b": nil},
	})
	if len(got.Data)+len(got.BinaryData)+len(got.Annotations) > 0 {
		t.Errorf("kept: %+v", got)
	}
}
