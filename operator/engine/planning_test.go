package engine

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// The TLS asset Secrets of a workload end before one with the same name that another workload owns.
func TestTLSSecretsOfAnotherWorkload(t *testing.T) {
	b := &workload.Base{Kind: workload.Kind{Prefix: "ruler"}, Meta: &metav1.ObjectMeta{Name: "a", UID: "1"}}
	live := Live{Secrets: map[string]*corev1.Secret{}}
	for i, owner := range []types.UID{"1", "1", "2", "1"} {
		name := b.TLSAssetSecretName(i)
		live.Secrets[name] = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{UID: owner}}}}
	}
	if n := live.TLSSecrets(b); n != 2 {
		t.Errorf("%d Secrets", n)
	}
}
