package prometheus

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// The objects that tenants create, and their references, never change the pod template,
// regardless of number and size.
func TestTenantsChangeNoPodTemplate(t *testing.T) {
	ca := certificate(t)
	template := func(s *scene) string {
		for _, step := range s.plan(t).Workload {
			if set, is := step.Object.(*appsv1.StatefulSet); is {
				text, err := json.Marshal(set.Spec)
				if err != nil {
					t.Fatal(err)
				}
				return string(text) + set.Annotations[wellknown.AnnotationInputHash]
			}
		}
		t.Fatal("no StatefulSet")
		return ""
	}
	empty := newScene()
	empty.services, empty.rules = nil, nil
	want := template(empty)
	secrets, configMaps := 0, 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := newScene()
		for i := range r.IntN(18) {
			name := fmt.Sprintf("tls-%d", i)
			s.references.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name},
				Data: map[string][]byte{"ca": []byte(ca + strings.Repeat("\n", r.IntN(250_000)))}})
			m := s.services[0].DeepCopy()
			m.Name, m.UID = name, types.UID(name)
			m.Spec.Endpoints[0].TLSConfig = &v1.TLSConfig{SafeTLSConfig: v1.SafeTLSConfig{CA: v1.SecretOrConfigMap{Secret: secretKey(name, "ca")}}}
			s.services = append(s.services, m)
		}
		for i := range r.IntN(12) {
			rule := ruleOf(fmt.Sprintf("r%d", i), "up")
			rule.Spec.Groups[0].Rules[0].Labels = map[string]string{"text": strings.Repeat("x", r.IntN(400_000))}
			s.rules = append(s.rules, rule)
		}
		for _, step := range s.plan(t).Content {
			switch o := step.Object.(type) {
			case *corev1.Secret:
				if strings.HasPrefix(o.Name, "prometheus-web-tls-assets-") {
					secrets = max(secrets, int(o.Name[len(o.Name)-1]-'0')+1)
				}
			case *corev1.ConfigMap:
				configMaps = max(configMaps, int(o.Name[len(o.Name)-1]-'0')+1)
			}
		}
		if got := template(s); got != want {
			t.Errorf("seed %d: another StatefulSet:\n%s\nwant\n%s", seed, got, want)
		}
	}
	if secrets < 2 || configMaps < 3 {
		t.Errorf("%d Secrets and %d ConfigMaps: the test shows little", secrets, configMaps)
	}
}
