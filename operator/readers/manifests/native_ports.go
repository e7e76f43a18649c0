package manifests

import (
	"errors"
	"fmt"
	"net"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// portNames returns the errors of names of container ports, which are shorter than those of Services.
// Monitors refer to them, and the API server rejects the object.
func portNames(object Native) error {
	spec, path := PodSpec(object)
	if spec == nil {
		return nil
	}
	var out []error
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"containers", spec.Containers}, {"initContainers", spec.InitContainers}} {
		for i := range list.containers {
			for j, p := range list.containers[i].Ports {
				if wrong := validation.IsValidPortName(p.Name); p.Name != "" && len(wrong) > 0 {
					out = append(out, &InvalidError{Path: fmt.Sprintf("%s.%s[%d].ports[%d].name", path, list.name, i, j), Reason: strings.Join(wrong, "; ")})
				}
			}
		}
	}
	return errors.Join(out...)
}

// wrongAddress returns the error of the first address of Endpoints or an EndpointSlice that the API server rejects, because
// it is that of the node itself or a name, or of the address of a Service.
func wrongAddress(object Native) error {
	wrong := func(path, address string) error {
		ip := net.ParseIP(address)
		if ip == nil && hostName.MatchString(address) {
			return &InvalidError{Path: path, Reason: "want an IP address, and this is none; for the name of a host use a ScrapeConfig, with staticConfigs: [{targets: [host:port]}]"}
		}
		if ip == nil || !ip.IsLoopback() {
			return nil
		}
		return &InvalidError{Path: path, Reason: "must not be a loopback address, which in the pod of Prometheus is this pod; let the server listen on an address of the node, and write that"}
	}
	switch o := object.(type) {
	case *corev1.Service:
		if o.Spec.ClusterIP != corev1.ClusterIPNone && strings.EqualFold(o.Spec.ClusterIP, corev1.ClusterIPNone) {
			return &InvalidError{Path: "spec.clusterIP", Reason: "write None, with a capital N, for a Service without an address of its own"}
		}
	//lint:ignore SA1019 what monitors look for by default
	case *corev1.Endpoints:
		for i, subset := range o.Subsets {
			for j := range subset.Addresses {
				if err := wrong(fmt.Sprintf("subsets[%d].addresses[%d].ip", i, j), subset.Addresses[j].IP); err != nil {
					return err
				}
			}
		}
	case *discoveryv1.EndpointSlice:
		if o.AddressType == discoveryv1.AddressTypeFQDN {
			return nil
		}
		for i := range o.Endpoints {
			for j, address := range o.Endpoints[i].Addresses {
				if err := wrong(fmt.Sprintf("endpoints[%d].addresses[%d]", i, j), address); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// hostName matches the name of a host.
var hostName = lazyregexp.New(`^[a-z0-9-]+(\.[a-z0-9-]+)*\.?$`)

// PodSpec returns the pods of an object with their path; nil if it has none.
func PodSpec(object Native) (spec *corev1.PodSpec, path string) {
	const template = "spec.template.spec"
	switch o := object.(type) {
	case *corev1.Pod:
		return &o.Spec, "spec"
	case *appsv1.Deployment:
		return &o.Spec.Template.Spec, template
	case *appsv1.StatefulSet:
		return &o.Spec.Template.Spec, template
	case *appsv1.DaemonSet:
		return &o.Spec.Template.Spec, template
	case *appsv1.ReplicaSet:
		return &o.Spec.Template.Spec, template
	case *batchv1.Job:
		return &o.Spec.Template.Spec, template
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template.Spec, "spec.jobTemplate." + template
	}
	return nil, ""
}
