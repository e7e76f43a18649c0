//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/kubernetes"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// last is the name of an object that cannot exist. Builders work in the order of events
// and answer each, so the answer about it comes after those about all others.
const last = "-"

// Groups are those that a discovery of Prometheus makes of the objects, by source. own is
// the namespace of the workload.
//
// Errors: a role that does not exist; a selector that cannot be applied.
func (o *Objects) Groups(sd *targets.KubernetesSD, own string) ([]*targetgroup.Group, error) {
	in, err := o.informers(sd, own)
	if err != nil {
		return nil, err
	}
	builder, primary, end := in.builder(sd.Role)
	if builder == nil {
		return nil, fmt.Errorf("role %q does not exist", sd.Role)
	}
	for _, object := range primary.store.List() {
		primary.handler.OnAdd(object, true)
	}
	primary.handler.OnDelete(end)
	out := run(builder)
	unlabel(lacking(sd.Release, sd.Role), out)
	slices.SortFunc(out, func(a, b *targetgroup.Group) int { return cmp.Compare(a.Source, b.Source) })
	return out, nil
}

// run collects the groups of a builder up to that of the last event.
func run(builder discovery.Discoverer) (out []*targetgroup.Group) {
	ctx, cancel := context.WithCancel(context.Background())
	ch, done := make(chan []*targetgroup.Group), make(chan struct{})
	go func() {
		builder.Run(ctx, ch)
		close(done)
	}()
	for groups := range ch {
		group := groups[0] // they send one at a time
		if strings.HasSuffix(group.Source, "/"+last) {
			break
		}
		if len(group.Targets) > 0 {
			out = append(out, group)
		}
	}
	cancel()
	<-done
	return out
}

// informers are the objects that a discovery looks at; nil for metadata it does not attach.
type informers map[string]*informer

func (o *Objects) informers(sd *targets.KubernetesSD, own string) (informers, error) {
	s, out, without := scopeOf(sd, own), informers{}, lacking(sd.Release, sd.Role)
	for _, kind := range Kinds(sd) {
		objects, err := o.objects(kind.Role, s)
		if err != nil {
			return nil, err
		}
		if out[kind.Role], err = newInformer(see(without, objects)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// optional is an informer of metadata; a nil interface without it, which builders look for.
func (in informers) optional(role string) cache.SharedInformer {
	if i := in[role]; i != nil {
		return i
	}
	return nil
}

// builder returns Prometheus' builder of a role, the informer whose objects have groups,
// and an object that does not exist.
func (in informers) builder(role string) (builder discovery.Discoverer, primary *informer, end Object) {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "events_total"}, []string{"role", "event"})
	name := metav1.ObjectMeta{Namespace: last, Name: last}
	nodes, namespaces := in.optional(roleNode), in.optional(namespaceObjects)
	primary = in[role]
	switch role {
	case roleEndpoints:
		return kubernetes.NewEndpoints(nil, primary, in[roleService], in[rolePod], nodes, namespaces, nil, nil, false, false, false, events), primary,
			&corev1.Endpoints{ObjectMeta: name}
	case roleEndpointSlice:
		return kubernetes.NewEndpointSlice(nil, primary, in[roleService], in[rolePod], nodes, namespaces, nil, nil, false, false, false, events), primary,
			&discoveryv1.EndpointSlice{ObjectMeta: name}
	case rolePod:
		return kubernetes.NewPod(nil, primary, nodes, namespaces, nil, nil, false, false, false, events), primary, &corev1.Pod{ObjectMeta: name}
	case roleService:
		return kubernetes.NewService(nil, primary, namespaces, events), primary, &corev1.Service{ObjectMeta: name}
	case roleIngress:
		return kubernetes.NewIngress(nil, primary, namespaces, events), primary, &networkingv1.Ingress{ObjectMeta: name}
	case roleNode:
		return kubernetes.NewNode(nil, primary, events), primary, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: last}}
	}
	return nil, nil, nil
}
