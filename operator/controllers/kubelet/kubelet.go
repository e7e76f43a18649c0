// Package kubelet maintains a Service whose endpoints are the kubelets of the cluster, so
// that a ServiceMonitor can scrape them: Kubernetes itself has no such Service.
//
//	nodes ─informer→ addresses (addresses.go) → Service, Endpoints, EndpointSlices → apply
//
// Pure functions compute the desired objects from the nodes and the live objects, one
// function per kind of object (service.go, endpoints.go, slices.go). The [Controller]
// reads the live objects every [Options.SyncPeriod], which reverts foreign edits. In
// between, a changed node causes one write and no reads, because addresses stay in their
// EndpointSlice.
package kubelet

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Options select the objects to maintain. They are set by flags of the operator.
type Options struct {
	Service     types.NamespacedName // also the name of the Endpoints and the prefix of the EndpointSlices
	Selector    string               // label selector of the nodes; empty selects all
	External    bool                 // prefer the external addresses of nodes
	HTTPMetrics bool                 // include the port http-metrics
	Endpoints   bool                 // maintain the Endpoints
	Slices      bool                 // maintain the EndpointSlices
	SyncPeriod  time.Duration        // interval between comparisons with the live objects, positive

	Labels, Annotations map[string]string // of all objects; Labels override those of this package

	// Lead (optional) waits until this operator may write. It returns false if the
	// context has ended.
	Lead func(context.Context) bool
	// MayWriteSlices reports whether the operator has permission to write EndpointSlices.
	// If nil, it has.
	MayWriteSlices func() bool
}

// keepsSlices reports whether EndpointSlices are written.
func (o Options) keepsSlices() bool {
	return o.Slices && (o.MayWriteSlices == nil || o.MayWriteSlices())
}

// labels returns the labels of all objects.
func (o Options) labels() map[string]string {
	out := map[string]string{
		"k8s-app":                   "kubelet",
		wellknown.LabelAppName:      "kubelet",
		wellknown.LabelAppManagedBy: wellknown.ManagedBy,
	}
	maps.Copy(out, o.Labels)
	return out
}

// port is a TCP port on which every kubelet serves metrics.
type port struct {
	name   string
	number int32
}

// ports returns the ports in the order of the objects.
func (o Options) ports() []port {
	out := []port{{"https-metrics", 10250}, {"cadvisor", 4194}}
	if o.HTTPMetrics {
		out = append(out, port{"http-metrics", 10255})
	}
	return out
}

// overlay returns have with the entries of want added or replaced. Entries of others are
// kept.
func overlay(have, want map[string]string) map[string]string {
	if len(want) == 0 {
		return have
	}
	out := maps.Clone(have)
	if out == nil {
		out = make(map[string]string, len(want))
	}
	maps.Copy(out, want)
	return out
}

// nodeRef returns a reference to the node of an address.
func nodeRef(n *corev1.Node) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}
}
