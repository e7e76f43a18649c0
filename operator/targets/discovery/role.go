package discovery

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Roles of Kubernetes discovery, and the metadata objects.
const (
	roleEndpoints     = "endpoints"
	roleEndpointSlice = "endpointslice"
	rolePod           = "pod"
	roleService       = "service"
	roleNode          = "node"
	roleIngress       = "ingress"
	namespaceObjects  = "namespace"
)

// Kind is a kind of object that discoveries read.
type Kind struct {
	// Role that discovers such objects; "namespace" for objects that are only read as metadata.
	Role string
	// Resource in the API.
	Resource schema.GroupVersionResource
	// ClusterScoped kinds have no namespace.
	ClusterScoped bool
}

// In returns the namespace in which objects of the kind are listed for a discovery in a namespace: the same, or "" for a
// cluster-scoped kind.
func (k Kind) In(namespace string) string {
	if k.ClusterScoped {
		return ""
	}
	return namespace
}

// core returns a resource of the core API.
func core(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: resource}
}

var (
	endpoints      = Kind{Role: roleEndpoints, Resource: core("endpoints")}
	endpointSlices = Kind{Role: roleEndpointSlice, Resource: schema.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}}
	pods           = Kind{Role: rolePod, Resource: core("pods")}
	services       = Kind{Role: roleService, Resource: core("services")}
	nodes          = Kind{Role: roleNode, Resource: core("nodes"), ClusterScoped: true}
	ingresses      = Kind{Role: roleIngress, Resource: schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}}
	namespaces     = Kind{Role: namespaceObjects, Resource: core("namespaces"), ClusterScoped: true}
)

// roles are the kinds that each role reads, primary objects first, and the metadata that it can
// attach to their labels.
var roles = map[string]struct {
	kinds           []Kind
	node, namespace bool
}{
	roleEndpoints:     {[]Kind{endpoints, services, pods}, true, true},
	roleEndpointSlice: {[]Kind{endpointSlices, services, pods}, true, true},
	rolePod:           {[]Kind{pods}, true, true},
	roleService:       {[]Kind{services}, false, true},
	roleIngress:       {[]Kind{ingresses}, false, true},
	roleNode:          {[]Kind{nodes}, false, false},
}

// LocalKinds is like [Kinds] for a discovery in the workload's own cluster.
//
// Errors: another cluster; an unknown role.
func LocalKinds(sd *targets.KubernetesSD) ([]Kind, error) {
	if other := OtherCluster(sd); other != "" {
		return nil, fmt.Errorf("the job discovers targets in the cluster of %s", other)
	}
	kinds := Kinds(sd)
	if kinds == nil {
		return nil, fmt.Errorf("kubernetes discovery: role %q does not exist", sd.Role)
	}
	return kinds, nil
}

// Kinds returns the kinds that a discovery lists and watches; nil for an unknown role. Prometheus
// finds nothing until all of them can be listed.
func Kinds(sd *targets.KubernetesSD) []Kind {
	role := roles[sd.Role]
	out := role.kinds[:len(role.kinds):len(role.kinds)]
	if role.node && sd.AttachMetadata.Node {
		out = append(out, nodes)
	}
	if role.namespace && sd.AttachMetadata.Namespace {
		out = append(out, namespaces)
	}
	return out
}
