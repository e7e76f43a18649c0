package prometheus

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// The configuration Secret of a Prometheus web-config-part-1 has the name of the first
// part of web, and that of web-tls-assets-1 the name of its TLS assets. Objects of others
// are neither removed nor overwritten.
func TestNamesThatMeet(t *testing.T) {
	for name, owner := range map[string]types.UID{"another's": "other", "nobody's": ""} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			for _, n := range []string{"prometheus-web-config-part-1", "prometheus-web-config-part-2", "prometheus-web-tls-assets-1"} {
				meta := ownedMeta(n, owner)
				if owner == "" {
					meta.OwnerReferences = nil
				}
				s.secrets = append(s.secrets, &corev1.Secret{ObjectMeta: meta})
			}
			if got := steps(s.plan(t).Content); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "remove") }) {
				t.Errorf("%v", got)
			}
		})
	}
}

// Parts do not use the names of foreign Secrets, and the pods never read a configuration
// from them.
func TestPartsGoAroundForeignSecrets(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	w.services = distinctMonitors(200)
	foreign := map[string][]byte{}
	for _, i := range []string{"1", "16"} {
		name := "prometheus-main-config-part-" + i
		w.secrets[name] = &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{UID: "other", Controller: new(true)}}},
			Data:       map[string][]byte{promworkload.ConfigKey: []byte("another configuration")},
		}
		foreign[name] = w.secrets[name].Data[promworkload.ConfigKey]
	}
	_, plan, err := w.desired()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range slices.Concat(plan.Content, plan.Workload) {
		if _, other := foreign[s.Object.GetName()]; other {
			t.Errorf("%v", steps([]apply.Step{s}))
		}
		w.write(s)
	}
	for _, v := range w.template().Spec.Volumes {
		if v.Name != "config" {
			continue
		}
		for _, source := range v.Projected.Sources[1:] {
			if len(source.Secret.Items) != 2 || source.Secret.Items[0].Key == promworkload.ConfigKey {
				t.Errorf("Secret %s shows %v", source.Secret.Name, source.Secret.Items)
			}
		}
	}
}
