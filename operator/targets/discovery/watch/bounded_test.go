package watch

import (
	"fmt"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// The targets of an object with too many labels are left out as long as it has them; the targets of other objects are
// not affected.
func TestTooLarge(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		pod := a.pod("demo", "hostile", "10.0.0.2", "hostile")
		pod.Annotations = map[string]string{}
		for i := range 3000 {
			pod.Annotations[fmt.Sprint("annotation-", i)] = "x"
		}
		a.Kind("pods").Add(pod)
		a.Kind("pods").Add(a.pod("demo", "web", "10.0.0.1", "web"))
		hostile := a.slice("demo", "hostile", "10.0.0.2", "demo", "hostile")
		small := hostile.Ports
		for i := range 1000 {
			hostile.Ports = append(hostile.Ports, discoveryv1.EndpointPort{Name: new(fmt.Sprint(i)), Port: new(int32(1000 + i))})
		}
		a.Kind("endpointslices").Add(hostile)
		a.Kind("endpointslices").Add(a.slice("demo", "web", "10.0.0.1", "demo", "web"))
		all := subscribe(t, c, targets.KubernetesSD{Role: "endpointslice"})
		defer all.Close()
		same(t, []string{"endpointslice/demo/web web"}, all.found(podApp))
		same(t, []string{"endpointslices demo/hostile"}, c.TooLarge())

		hostile = hostile.DeepCopy()
		hostile.Ports = small
		a.Kind("endpointslices").Modify(hostile)
		same(t, []string{"endpointslice/demo/hostile hostile", "endpointslice/demo/web web"}, all.found(podApp))
		same(t, []string(nil), c.TooLarge())

		hostile = hostile.DeepCopy()
		hostile.Endpoints[0].Addresses = make([]string, 1_000_000)
		a.Kind("endpointslices").Modify(hostile)
		same(t, []string{"endpointslice/demo/web web"}, all.found(podApp))
		a.Kind("endpointslices").Delete(hostile)
		same(t, []string{"endpointslice/demo/web web"}, all.found(podApp))
		same(t, []string(nil), c.TooLarge())
	})
}
