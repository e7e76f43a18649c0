//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Dropped reports whether all jobs that use a discovery drop all targets of a group, judging only by the labels of the
// group. ofTarget reports whether a target may have a label in addition to those of its group.
type Dropped func(group model.LabelSet, ofTarget func(model.LabelName) bool) bool

// LookBriefly is like [Objects.Look], but replaces the targets of dropped groups of Endpoints and EndpointSlices by the same
// number of equal placeholders with few labels. Most objects of a namespace belong to other jobs, and attaching the labels of
// their pods is most of the work.
func (o *Objects) LookBriefly(sd *targets.KubernetesSD, own string, dropped Dropped) (targets.Found, error) {
	return o.look(sd, own, func(in informers) []*targetgroup.Group { return in.takeDropped(sd, dropped) })
}

// takeDropped removes the objects whose groups are dropped, and returns those groups, with placeholders.
func (in informers) takeDropped(sd *targets.KubernetesSD, dropped Dropped) (out []*targetgroup.Group) {
	if sd.Role != roleEndpoints && sd.Role != roleEndpointSlice {
		return nil
	}
	store, podStore := in[sd.Role].store, in[rolePod].store
	objects, bare := map[string]Object{}, []Object{}
	for _, object := range store.List() {
		if o, is := object.(Object); is {
			objects[o.GetNamespace()+"/"+o.GetName()] = o
			bare = append(bare, withoutPods(o))
		}
	}
	primary, err := newInformer(bare)
	if err != nil {
		return nil // then the complete objects are an error, too
	}
	without := maps.Clone(in)
	without[sd.Role] = primary
	groups, _ := without.groups(sd.Role)
	unlabel(lacking(sd.Release, sd.Role), groups)
	for _, group := range groups {
		_, key, _ := strings.Cut(group.Source, "/")
		object := objects[key]
		if object == nil || !dropped(group.Labels, ofTarget) || store.Delete(object) != nil {
			continue
		}
		n := len(group.Targets) + morePorts(object, func(pod string) (ports []int32, is bool) {
			found, _, _ := podStore.GetByKey(pod) // a store in memory does not fail
			return exposed(found)
		})
		group.Targets = slices.Repeat(group.Targets[:1], n)
		out = append(out, group)
	}
	return out
}

// ofTarget reports whether a target of Endpoints or an EndpointSlice may have a label that is not one of its group.
func ofTarget(name model.LabelName) bool {
	text, is := strings.CutPrefix(string(name), meta)
	return name == model.AddressLabel || is && !strings.HasPrefix(text, "service_") && !strings.HasPrefix(text, "namespace")
}

// withoutPods returns a copy of Endpoints or an EndpointSlice that does not refer to pods.
func withoutPods(object Object) Object {
	switch o := object.(type) {
	case *discoveryv1.EndpointSlice:
		out := *o
		out.Endpoints = slices.Clone(o.Endpoints)
		for i := range out.Endpoints {
			out.Endpoints[i].TargetRef = nil
		}
		return &out
	case *corev1.Endpoints:
		out := *o
		out.Subsets = slices.Clone(o.Subsets)
		for i := range out.Subsets {
			s := &out.Subsets[i]
			s.Addresses, s.NotReadyAddresses = slices.Clone(s.Addresses), slices.Clone(s.NotReadyAddresses)
			for a := range addressesOf(s) {
				a.TargetRef = nil
			}
		}
		return &out
	}
	return object
}

// morePorts returns the number of targets that an object has for ports of containers of its pods that are not among its own
// ports.
//
// exposed: the ports of the containers of a pod, see [exposed].
func morePorts(object Object, exposed func(key string) (ports []int32, is bool)) (n int) {
	for pod, own := range podPorts(object) {
		ports, is := exposed(pod)
		for _, port := range ports {
			if is && !slices.Contains(own, port) {
				n++
			}
		}
	}
	return n
}

// podPorts returns the ports that an object has for each of its pods; those without a number are left out.
func podPorts(object Object) map[string][]int32 {
	out := map[string][]int32{}
	add := func(ref *corev1.ObjectReference, ports []int32) {
		if ref != nil && ref.Kind == "Pod" {
			key := ref.Namespace + "/" + ref.Name
			out[key] = append(out[key], ports...)
		}
	}
	switch o := object.(type) {
	case *discoveryv1.EndpointSlice:
		var ports []int32
		for _, port := range o.Ports {
			if port.Port != nil {
				ports = append(ports, *port.Port)
			}
		}
		for i := range o.Endpoints {
			if e := &o.Endpoints[i]; len(o.Ports) > 0 && len(e.Addresses) > 0 {
				add(e.TargetRef, ports)
			}
		}
	case *corev1.Endpoints:
		for i := range o.Subsets {
			var ports []int32
			for _, port := range o.Subsets[i].Ports {
				ports = append(ports, port.Port)
			}
			if len(ports) == 0 {
				continue
			}
			for a := range addressesOf(&o.Subsets[i]) {
				add(a.TargetRef, ports)
			}
		}
	}
	return out
}
