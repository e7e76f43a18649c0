//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// filler returns a filler for every field of an object that uses few words where objects refer to
// each other.
func filler(seed int64) (*randfill.Filler, func(...string) string) {
	r := rand.New(rand.NewSource(seed))
	of := func(words ...string) string { return words[r.Intn(len(words))] }
	return randfill.New().RandSource(r).NilChance(0.2).NumElements(1, 3).MaxDepth(12).Funcs(
		func(m *map[string]string, c randfill.Continue) {
			*m = map[string]string{"app": c.String(5), "a.b/c-d": c.String(5), discoveryv1.LabelServiceName: of("a", "b")}
		},
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			c.FillNoCustom(m)
			m.Namespace, m.Name = of("a", "b"), of("a", "b", "c")
		},
		func(r *corev1.ObjectReference, _ randfill.Continue) {
			*r = corev1.ObjectReference{Kind: of("Pod", "Node", "Other"), Namespace: of("a", "b"), Name: of("a", "b", "c")}
		},
		func(o *metav1.OwnerReference, c randfill.Continue) {
			*o = metav1.OwnerReference{Kind: of("ReplicaSet", "Job", "DaemonSet"), Name: c.String(5), Controller: new(r.Intn(2) == 0)}
		},
		func(s *corev1.PodSpec, c randfill.Continue) {
			c.FillNoCustom(s)
			s.NodeName = of("", "a", "b", "c")
		},
		func(p *corev1.ContainerPort, c randfill.Continue) {
			c.FillNoCustom(p)
			p.ContainerPort = int32(1 + r.Intn(3))
		},
		func(p *discoveryv1.EndpointPort, c randfill.Continue) {
			c.FillNoCustom(p)
			p.Port = new(int32(1 + r.Intn(3)))
		},
		func(c *corev1.PodCondition, _ randfill.Continue) {
			*c = corev1.PodCondition{Type: corev1.PodConditionType(of("Ready", "Initialized")), Status: corev1.ConditionStatus(of("True", "False", "Unknown"))}
		},
		func(a *corev1.NodeAddress, c randfill.Continue) {
			*a = corev1.NodeAddress{Type: corev1.NodeAddressType(of("InternalIP", "ExternalIP", "Hostname")), Address: c.String(5)}
		},
	), of
}

// sorted returns the groups as text without the order of targets, which builders do not preserve.
func sorted(groups []*targetgroup.Group) (out []string) {
	for _, g := range groups {
		lines := []string{fmt.Sprint(g.Source, " ", g.Labels)}
		for _, t := range g.Targets {
			lines = append(lines, "  "+t.String())
		}
		slices.Sort(lines[1:])
		out = append(out, strings.Join(lines, "\n"))
	}
	return out
}

// randomObjects adds random objects of all kinds.
func randomObjects(seed int64, add func(Object)) {
	fill, _ := filler(seed)
	for range 6 {
		for _, object := range []Object{
			&corev1.Pod{}, &corev1.Service{}, &corev1.Node{}, &corev1.Namespace{}, &discoveryv1.EndpointSlice{}, &networkingv1.Ingress{},
			&corev1.Endpoints{},
		} {
			fill.Fill(object)
			switch o := object.(type) {
			case *corev1.Node, *corev1.Namespace:
				o.SetNamespace("")
			}
			add(object)
		}
	}
}

var allRoles = []string{roleEndpoints, roleEndpointSlice, rolePod, roleService, roleNode, roleIngress}

// Trimmed fields affect neither labels nor selectors.
func TestTrimmedObjectsGiveTheSameGroups(t *testing.T) {
	found := map[string]int{}
	for seed := range int64(30) {
		var trimmed, whole Objects
		randomObjects(seed, func(o Object) {
			before := o.DeepCopyObject()
			if !trimmed.Add(o) {
				t.Fatalf("%T does not matter", o)
			}
			if !cmp.Equal(before, o) {
				t.Fatalf("%T is changed", o)
			}
			whole.add(roleOf(o), o)
		})
		for _, role := range allRoles {
			for _, metadata := range []bool{false, true} {
				sd := &targets.KubernetesSD{Role: role, AttachMetadata: targets.AttachMetadata{Node: metadata, Namespace: metadata}}
				want, err := whole.Groups(sd, "")
				if err != nil {
					t.Fatal(err)
				}
				got, err := trimmed.Groups(sd, "")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
					t.Errorf("seed %d, role %s, metadata %v: (-whole +trimmed)\n%s", seed, role, metadata, diff)
				}
				for _, g := range got {
					found[role] += len(g.Targets)
				}
			}
		}
	}
	for _, role := range allRoles {
		if found[role] < 100 {
			t.Errorf("only %d targets of role %s", found[role], role)
		}
	}
}

// Every field by which pods, nodes and Services can be selected is kept.
func TestTrimmedObjectsAreSelectedAlike(t *testing.T) {
	fieldsOf := map[string][]string{
		rolePod: {"metadata.name", "metadata.namespace", "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
			"spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"},
		roleNode: {"metadata.name", "spec.unschedulable"}, roleService: {"metadata.name", "spec.clusterIP", "spec.type"},
	}
	randomObjects(1, func(o Object) {
		role, trimmed := trim(o)
		for _, field := range fieldsOf[role] {
			want, _ := fieldOf(o, field)
			if got, ok := fieldOf(trimmed, field); got != want || !ok {
				t.Errorf("%s of a %s: %q, want %q", field, role, got, want)
			}
		}
	})
}

func TestObjectsOfOtherKinds(t *testing.T) {
	var o Objects
	if o.Add(&corev1.ConfigMap{}) {
		t.Error("a ConfigMap matters to discovery")
	}
}
