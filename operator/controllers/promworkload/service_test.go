package promworkload

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// user returns a Prometheus that was created at the given minute. does edits it.
func user(name string, minute int, does ...func(*v1.Prometheus)) workload.Peer {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, UID: types.UID(name),
		CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC)),
	}}
	for _, edit := range does {
		edit(p)
	}
	return workload.PeerOf(ForServer(p, testConfig()), false)
}

func withThanos(p *v1.Prometheus) { p.Spec.Thanos = &v1.ThanosSpec{} }
func ownService(p *v1.Prometheus) { p.Spec.ServiceName = "mine" }
func going(p *v1.Prometheus)      { p.DeletionTimestamp = new(metav1.Now()) }
func portNamed(name string) func(*v1.Prometheus) {
	return func(p *v1.Prometheus) { p.Spec.PortName = name }
}
func foreign(p workload.Peer) workload.Peer {
	p.Foreign = true
	return p
}

// All workloads that use the shared Service build the same Service.
func TestSharedService(t *testing.T) {
	for name, tc := range map[string]struct {
		users         []workload.Peer
		ports, owners string
		lost          map[string]string // message by workload
	}{
		"alone":                       {[]workload.Peer{user("a", 1)}, "web 9090", "a", nil},
		"one with Thanos":             {[]workload.Peer{user("a", 1), user("b", 2, withThanos)}, "web 9090, grpc 10901", "a b", nil},
		"the older one with Thanos":   {[]workload.Peer{user("a", 2), user("b", 1, withThanos)}, "web 9090, grpc 10901", "b a", nil},
		"of the same age, by name":    {[]workload.Peer{user("b", 1), user("a", 1)}, "web 9090", "a b", nil},
		"a Service of its own":        {[]workload.Peer{user("a", 1), user("b", 2, withThanos, ownService)}, "web 9090", "a", nil},
		"being deleted":               {[]workload.Peer{user("a", 1), user("b", 2, withThanos, going)}, "web 9090, grpc 10901", "a", nil},
		"of another operator":         {[]workload.Peer{user("a", 1), foreign(user("b", 2, withThanos))}, "web 9090, grpc 10901", "a", nil},
		"other names of one number":   {[]workload.Peer{user("a", 2, portNamed("http")), user("b", 1)}, "web 9090", "b a", map[string]string{"a": `port "http" (9090) is not in Service "prometheus-operated", where Prometheus "b" has port "web" (9090)`}},
		"other numbers of one name":   {[]workload.Peer{user("a", 1, portNamed("grpc")), user("b", 2, withThanos, portNamed("grpc"))}, "grpc 9090", "a b", map[string]string{"b": `port "grpc" (10901) is not in`}},
		"one that collides by itself": {[]workload.Peer{user("a", 1, withThanos, portNamed("grpc"))}, "grpc 9090", "a", map[string]string{"a": `port "grpc" (10901) is not in`}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, me := range tc.users {
				if me.Foreign || len(me.Ports) == 0 || me.Meta.DeletionTimestamp != nil {
					continue
				}
				for _, peers := range [][]workload.Peer{tc.users, slices.Concat(tc.users[i+1:], tc.users[:i])} {
					svc, lost := me.SharedService(me.Ports, workload.NewServiceUsers(peers))
					var ports, owners []string
					for _, p := range svc.Spec.Ports {
						ports = append(ports, fmt.Sprintf("%s %d", p.Name, p.Port))
						if p.TargetPort.String() != p.Name {
							t.Errorf("%s leads to %s", p.Name, p.TargetPort.String())
						}
					}
					for _, r := range svc.OwnerReferences {
						owners = append(owners, r.Name)
					}
					if got := strings.Join(ports, ", "); got != tc.ports {
						t.Errorf("%s: ports %s, want %s", me.Meta.Name, got, tc.ports)
					}
					if got := strings.Join(owners, " "); got != tc.owners {
						t.Errorf("%s: owners %s, want %s", me.Meta.Name, got, tc.owners)
					}
					want := tc.lost[me.Meta.Name]
					var reasons []string
					for _, f := range lost {
						reasons = append(reasons, f.Reason)
					}
					if got := strings.Join(reasons, "; "); (want == "") != (got == "") || !strings.HasPrefix(got, want) {
						t.Errorf("%s: lost %q, want %q", me.Meta.Name, got, want)
					}
				}
			}
		})
	}
}
