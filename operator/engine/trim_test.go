package engine

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// TestConfigMapsOfNobody: any client may create a ConfigMap with our labels; its files are not cached.
func TestConfigMapsOfNobody(t *testing.T) {
	m := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b", Annotations: map[string]string{"a": "b"}},
			Data:       map[string]string{"a": "b"}, BinaryData: map[string][]byte{"b": nil},
		}
	}
	if got := trimRules(trimRules(m())); len(got.Data)+len(got.Annotations) > 0 || len(got.BinaryData) != 1 {
		t.Errorf("kept: %+v", got)
	}
	owned := m()
	owned.OwnerReferences = []metav1.OwnerReference{{Kind: "ThanosRuler", Name: "a"}}
	once := trimRules(owned)
	if got := trimRules(once); got.Data["a"] != apply.DigestValue([]byte("b")) || got.Annotations["a"] != "b" {
		t.Errorf("of an owner: %+v", got)
	}
}
