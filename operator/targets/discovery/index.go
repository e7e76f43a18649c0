//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// Names of the indices in which builders look up the objects that an event affects. Prometheus uses
// the same names.
const (
	serviceIndex = "service"
	podIndex     = "pod"
	nodeIndex    = "node"
)

// Indexers returns the indices that builders need in an informer of the role.
func Indexers(role string) cache.Indexers {
	out := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	switch role {
	case roleEndpointSlice:
		out[serviceIndex], out[nodeIndex] = index(sliceService), index(sliceNodes)
	case roleEndpoints:
		out[podIndex], out[nodeIndex] = index(endpointsPods), index(endpointsNodes)
	case rolePod:
		out[nodeIndex] = podNode
	case roleNode, namespaceObjects:
		return cache.Indexers{}
	}
	return out
}

func index[T Object](of func(T) []string) cache.IndexFunc {
	return func(object any) ([]string, error) {
		o, ok := object.(T)
		if !ok {
			return nil, nil
		}
		return of(o), nil
	}
}

// podNode is the index of pods, packed or not, by node.
func podNode(object any) ([]string, error) {
	switch p := object.(type) {
	case *packedPod:
		return []string{p.node}, nil
	case *corev1.Pod:
		return []string{p.Spec.NodeName}, nil
	}
	return nil, nil
}

func sliceService(s *discoveryv1.EndpointSlice) []string {
	if name, ok := s.Labels[discoveryv1.LabelServiceName]; ok {
		return []string{s.Namespace + "/" + name}
	}
	return nil
}

func sliceNodes(s *discoveryv1.EndpointSlice) (out []string) {
	for i := range s.Endpoints {
		out = append(out, nodesOf(s.Endpoints[i].TargetRef, s.Endpoints[i].NodeName)...)
	}
	return out
}

func endpointsPods(e *corev1.Endpoints) (out []string) {
	for _, subset := range e.Subsets {
		for _, a := range subset.Addresses {
			if a.TargetRef != nil && a.TargetRef.Kind == "Pod" {
				out = append(out, a.TargetRef.Namespace+"/"+a.TargetRef.Name)
			}
		}
	}
	return out
}

func endpointsNodes(e *corev1.Endpoints) (out []string) {
	for _, subset := range e.Subsets {
		for _, a := range subset.Addresses {
			out = append(out, nodesOf(a.TargetRef, a.NodeName)...)
		}
	}
	return out
}

// nodesOf returns the node of an address.
func nodesOf(ref *corev1.ObjectReference, name *string) []string {
	switch {
	case ref != nil && ref.Kind == "Node":
		return []string{ref.Name}
	case ref != nil && ref.Kind == "Pod" && name != nil:
		return []string{*name}
	}
	return nil
}
