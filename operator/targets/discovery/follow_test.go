//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// TestFollow: endpoints change like the Kubernetes controllers would change them when a Service is
// applied.
func TestFollow(t *testing.T) {
	number, name := intstr.FromInt32, intstr.FromString
	service := func(selector string, ports ...corev1.ServicePort) *corev1.Service {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}, Spec: corev1.ServiceSpec{Ports: ports}}
		if selector != "" {
			s.Spec.Selector = map[string]string{"app": selector}
		}
		return s
	}
	port := func(name string, port int32, target intstr.IntOrString) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: port, TargetPort: target}
	}
	live := []corev1.ServicePort{port("http-web", 80, name("http")), port("admin", 81, number(9000))}
	for title, tc := range map[string]struct {
		is      *corev1.Service
		ports   string
		unknown string
	}{
		"the same":                    {service("cart", live...), "http-web=8080 admin=9000", ""},
		"another name":                {service("cart", port("http", 80, name("http")), live[1]), "http=8080 admin=9000", ""},
		"another number":              {service("cart", port("http-web", 8080, name("http"))), "http-web=8080", ""},
		"two names of one":            {service("cart", port("a", 1, name("http")), port("b", 2, name("http"))), "a=8080 b=8080", ""},
		"another port of the pods":    {service("cart", port("http-web", 80, number(7000))), "http-web=7000", ""},
		"without targetPort":          {service("cart", port("http-web", 80, intstr.IntOrString{})), "http-web=80", ""},
		"a name that nobody knows":    {service("cart", port("http-web", 80, name("metrics")), live[1]), "admin=9000", `port "http-web" of Service shop/cart gets targetPort "metrics"`},
		"another selector":            {service("basket", live...), "", "Service shop/cart gets another selector"},
		"no selector is given":        {service("", port("http", 80, name("http"))), "http=8080", ""},
		"no ports are given":          {service("cart"), "http-web=8080 admin=9000", ""},
		"a Service that is not there": {nil, "http-web=8080 admin=9000", ""},
	} {
		t.Run(title, func(t *testing.T) {
			var under, applied Objects
			under.Add(service("cart", live...))
			if tc.is != nil {
				applied.Add(tc.is)
			} else {
				other := service("x")
				other.Name = "other"
				applied.Add(other)
			}
			first, second, p1, p2, tcp := "http-web", "admin", int32(8080), int32(9000), corev1.ProtocolTCP
			slice := &discoveryv1.EndpointSlice{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-1", Labels: map[string]string{discoveryv1.LabelServiceName: "cart"}},
				Ports:      []discoveryv1.EndpointPort{{Name: &first, Port: &p1, Protocol: &tcp}, {Name: &second, Port: &p2, Protocol: &tcp}},
			}
			endpoints := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}, Subsets: []corev1.EndpointSubset{{
				Ports: []corev1.EndpointPort{{Name: "http-web", Port: 8080}, {Name: "admin", Port: 9000}},
			}}}
			var all Objects
			all.Add(slice)
			all.Add(endpoints)
			var messages []string
			for _, gap := range all.Follow(&targets.KubernetesSD{Role: roleEndpointSlice}, &applied, &under) {
				messages = append(messages, gap.Message)
			}
			unknown := strings.Join(messages, "; ")
			if !strings.HasPrefix(unknown, tc.unknown) || tc.unknown == "" && unknown != "" {
				t.Errorf("unknown: %q, want %q", unknown, tc.unknown)
			}
			var got [2][]string
			for _, o := range all.byRole[roleEndpointSlice] {
				for _, p := range o.(*discoveryv1.EndpointSlice).Ports {
					got[0] = append(got[0], fmt.Sprintf("%s=%d", *p.Name, *p.Port))
				}
			}
			for _, o := range all.byRole[roleEndpoints] {
				for _, p := range o.(*corev1.Endpoints).Subsets[0].Ports {
					got[1] = append(got[1], fmt.Sprintf("%s=%d", p.Name, p.Port))
				}
			}
			for i := range got {
				if text := strings.Join(got[i], " "); text != tc.ports {
					t.Errorf("ports %q, want %q", text, tc.ports)
				}
			}
			if *slice.Ports[0].Name != "http-web" {
				t.Error("the object of the cluster was changed")
			}
		})
	}
}

// If the pods of targets change, the known labels are those of their Service and its ports.
func TestFollowKnowsTheService(t *testing.T) {
	for role, port := range map[string]model.LabelName{
		roleEndpoints: "__meta_kubernetes_endpoint_port_name", roleEndpointSlice: "__meta_kubernetes_endpointslice_port_name",
	} {
		was := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "cart"}}}
		is := was.DeepCopy()
		is.Labels, is.Spec.Selector = map[string]string{"app": "basket"}, map[string]string{"app": "basket"}
		is.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}}
		var all, applied, under Objects
		all.Add(&corev1.Endpoints{ObjectMeta: was.ObjectMeta})
		all.Add(&discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-1", Labels: map[string]string{discoveryv1.LabelServiceName: "cart"}}})
		under.Add(was)
		applied.Add(is)
		gaps := all.Follow(&targets.KubernetesSD{Role: role}, &applied, &under)
		if len(gaps) != 1 || gaps[0].Possible == nil || len(gaps[0].Possible.Labels) != 2 {
			t.Fatalf("%s: gaps %+v", role, gaps)
		}
		names := map[model.LabelValue]bool{}
		for _, set := range gaps[0].Possible.Labels {
			names[set[port]] = true
			if set["__meta_kubernetes_service_label_app"] != "basket" || set["__meta_kubernetes_service_name"] != "cart" || set["__meta_kubernetes_namespace"] != "shop" {
				t.Errorf("%s: labels %v", role, set)
			}
		}
		if !names["http"] || !names[""] {
			t.Errorf("%s: ports %v", role, names)
		}
	}
}
