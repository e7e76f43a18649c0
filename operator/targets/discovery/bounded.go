//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// boundedInformer is the informer of the objects for which a builder builds groups. Objects whose groups would be too
// large do not exist in it: a group has all labels of a pod for each port of its service, and those of two objects
// of 100 kB are gigabytes.
type boundedInformer struct {
	cache.SharedIndexInformer
	pods, nodes cache.SharedIndexInformer // nil: their labels are not attached
	left        Left
}

// Left is called by a builder for each object for which it builds a group: whether it is left out, because its
// targets would have more than [budget.GroupBytes] of labels.
type Left func(key string, out bool)

// bind returns the informer of the objects of a role, nil if there is none.
func bind(role string, of Informers, left Left) cache.SharedIndexInformer {
	primary := of(role)
	if primary == nil {
		return nil
	}
	b := boundedInformer{SharedIndexInformer: primary, nodes: of(roleNode), left: left}
	if role != rolePod {
		b.pods = of(rolePod)
	}
	return b
}

// leftOut returns a gap if objects of a discovery are left out.
func leftOut(role string, names []string) []targets.Gap {
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	const most = 3
	return []targets.Gap{{State: targets.Unknown, Message: fmt.Sprintf("targets of role %s are not known: those of %s have more than %d MiB of labels each",
		role, excerpt.List(names, most), budget.GroupBytes>>20)}}
}

// GetStore implements cache.SharedIndexInformer.
func (b boundedInformer) GetStore() cache.Store { return b.GetIndexer() }

// GetIndexer implements cache.SharedIndexInformer.
func (b boundedInformer) GetIndexer() cache.Indexer {
	return boundedIndexer{b.SharedIndexInformer.GetIndexer(), b}
}

type boundedIndexer struct {
	cache.Indexer
	boundedInformer
}

// GetByKey implements cache.Store. Builders read the object of a group with it.
func (b boundedIndexer) GetByKey(key string) (any, bool, error) {
	object, exists, err := b.Indexer.GetByKey(key)
	out := exists && b.groupSize(object) > budget.GroupBytes
	if b.left != nil {
		b.left(key, out)
	}
	if out {
		return nil, false, err
	}
	return object, exists, err
}

// Approximate sizes of labels of targets in bytes, as builders hold them.
const (
	targetSize = 1000 // a target, with the labels that every one has
	labelSize  = 200  // a label or annotation of an object, which becomes two labels
	lookupSize = 8    // the lookup of a container port, in each target
)

// groupSize returns the approximate size of the group of an object. It stops above the limit.
func (b boundedInformer) groupSize(object any) (size int) {
	switch o := object.(type) {
	case *discoveryv1.EndpointSlice:
		size = metaSize(o)
		for i := range o.Endpoints {
			e := &o.Endpoints[i]
			size += b.endpointSize(len(e.Addresses)*len(o.Ports), e.TargetRef, e.NodeName, labelsSize(e.DeprecatedTopology))
			if size > budget.GroupBytes {
				return size
			}
		}
	case *corev1.Endpoints:
		size = metaSize(o)
		for i := range o.Subsets {
			for a := range addressesOf(&o.Subsets[i]) {
				size += b.endpointSize(len(o.Subsets[i].Ports), a.TargetRef, a.NodeName, 0)
				if size > budget.GroupBytes {
					return size
				}
			}
		}
	case *corev1.Pod:
		containers := len(o.Spec.Containers) + len(o.Spec.InitContainers)
		// Builders compare each container with each status.
		size = metaSize(o) + b.nodeSize(o.Spec.NodeName) + containers*(targetSize+lookupSize*(len(o.Status.ContainerStatuses)+len(o.Status.InitContainerStatuses))) + portsOf(o)*targetSize
	case *corev1.Service:
		size = metaSize(o) + len(o.Spec.Ports)*targetSize
	case *networkingv1.Ingress:
		size = metaSize(o) + pathsSize(o)
	case metav1.Object:
		size = metaSize(o)
	}
	return size
}

// pathsSize returns the size of the targets of an Ingress, one for each path of each rule.
func pathsSize(o *networkingv1.Ingress) (size int) {
	hosts := 0
	for _, of := range o.Spec.TLS {
		hosts += len(of.Hosts)
	}
	for i := range o.Spec.Rules {
		paths := 1
		if http := o.Spec.Rules[i].HTTP; http != nil {
			paths = max(1, len(http.Paths))
		}
		size += paths*targetSize + hosts*lookupSize
	}
	return size
}

// endpointSize returns the size of the targets of one endpoint.
func (b boundedInformer) endpointSize(targets int, ref *corev1.ObjectReference, node *string, more int) int {
	each, extra := targetSize+more, 0
	name := ""
	if node != nil {
		name = *node
	}
	if ref != nil && ref.Kind == "Node" {
		name = ref.Name
	}
	each += b.nodeSize(name)
	if ref != nil && ref.Kind == "Pod" && b.pods != nil {
		if object, has, _ := b.pods.GetStore().GetByKey(ref.Namespace + "/" + ref.Name); has {
			pod, is := object.(*corev1.Pod)
			if !is {
				return targets * each
			}
			ports, labels := portsOf(pod), metaSize(pod)+targetSize
			// A port that is none of the service has a target of its own.
			each, extra = each+labels+ports*lookupSize, ports*(labels+targets*lookupSize)
		}
	}
	return targets*each + extra
}

func (b boundedInformer) nodeSize(name string) int {
	if b.nodes == nil || name == "" {
		return 0
	}
	if object, has, _ := b.nodes.GetStore().GetByKey(name); has {
		if node, is := object.(*corev1.Node); is {
			return metaSize(node)
		}
	}
	return 0
}

func portsOf(p *corev1.Pod) (n int) {
	for c := range containersOf(p) {
		n += len(c.Ports)
	}
	return n
}

// metaSize returns the size of the labels of an object's metadata.
func metaSize(o metav1.Object) int { return labelsSize(o.GetLabels()) + labelsSize(o.GetAnnotations()) }

func labelsSize(labels map[string]string) (n int) {
	for name, value := range labels {
		n += labelSize + 2*len(name) + len(value)
	}
	return n
}
