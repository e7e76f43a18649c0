// Package kubelet keeps a Service whose endpoints are the kubelets of the cluster, so
// that a ServiceMonitor can scrape them: Kubernetes itself has no such Service.
//
//	nodes ─informer→ addresses (addresses.go) → Service, Endpoints, EndpointSlices → apply
//
// What should exist is decided by pure functions over the nodes and over what exists,
// one for each kind of object (service.go, endpoints.go, slices.go). The [Controller]
// reads what exists every [Options.SyncPeriod], which undoes foreign edits; between, a
// node that changes leads to one write without any read: addresses stay in the
// EndpointSlice that they are in.
package kubelet

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Options say which objects to keep, from the operator's flags.
type Options struct {
	Service     types.NamespacedName // also the Endpoints; the EndpointSlices begin with its name
	Selector    string               // label selector of the nodes; empty: all
	External    bool                 // prefer the external addresses of nodes
	HTTPMetrics bool                 // with the port http-metrics
	Endpoints   bool                 // keep the Endpoints
	Slices      bool                 // keep the EndpointSlices
	SyncPeriod  time.Duration        // pause between comparisons with what exists, positive

	Labels, Annotations map[string]string // of all objects, the labels before those of this package

	// Lead (optional) waits until this operator may write; false: the context has ended.
	Lead func(context.Context) bool
	// MayWriteSlices reports whether EndpointSlices may be written; nil: they may.
	MayWriteSlices func() bool
}

// keepsSlices reports whether EndpointSlices are written.
func (o Options) keepsSlices() bool {
	return o.Slices && (o.MayWriteSlices == nil || o.MayWriteSlices())
}

// labels of all objects.
func (o Options) labels() map[string]string {
	out := map[string]string{
		"k8s-app":                   "kubelet",
		wellknown.LabelAppName:      "kubelet",
		wellknown.LabelAppManagedBy: wellknown.ManagedBy,
	}
	maps.Copy(out, o.Labels)
	return out
}

// port is one that every kubelet serves metrics on, over TCP.
type port struct {
	name   string
	number int32
}

// ports in the order of the objects.
func (o Options) ports() []port {
	out := []port{{"https-metrics", 10250}, {"cadvisor", 4194}}
	if o.HTTPMetrics {
		out = append(out, port{"http-metrics", 10255})
	}
	return out
}

// overlay returns the entries of an object as they should be: others may add their own.
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

// nodeRef is the object behind an address.
func nodeRef(n *corev1.Node) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}
}
