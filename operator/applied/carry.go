//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package applied

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/online"
)

// resourceOf is the resource of an object of Kubernetes' own, if commands read it.
func resourceOf(o online.Object) (of schema.GroupVersionResource, known bool) {
	switch o.(type) {
	case *corev1.Namespace:
		of = online.Namespaces
	case *corev1.Node:
		of = online.Nodes
	case *corev1.Pod:
		of = online.Pods
	case *corev1.Service:
		of = online.Services
	case *corev1.Endpoints:
		of = online.Endpoints
	case *corev1.ServiceAccount:
		of = online.ServiceAccounts
	case *discoveryv1.EndpointSlice:
		of = online.EndpointSlices
	case *networkingv1.Ingress:
		of = online.Ingresses
	case *appsv1.Deployment:
		of = online.Deployments
	case *appsv1.StatefulSet:
		of = online.StatefulSets
	case *appsv1.DaemonSet:
		of = online.DaemonSets
	case *batchv1.Job:
		of = online.Jobs
	}
	return of, of.Resource != ""
}

// carry is a copy of the manifest with what an API server keeps of the object that is there;
// nil when there is none.
func carry(manifest, there online.Object) online.Object {
	out := manifest.DeepCopyObject().(online.Object)
	if there == nil {
		return out
	}
	out.SetUID(there.GetUID())
	out.SetResourceVersion(there.GetResourceVersion())
	out.SetGeneration(there.GetGeneration())
	out.SetCreationTimestamp(there.GetCreationTimestamp())
	out.SetDeletionTimestamp(there.GetDeletionTimestamp())
	if w, is := out.(v1.Workload); is {
		*w.GetWorkloadStatus() = *there.(v1.Workload).GetWorkloadStatus().DeepCopy()
	}
	if pod, is := out.(*corev1.Pod); is && pod.Status.Phase == "" {
		pod.Status = *there.(*corev1.Pod).Status.DeepCopy()
	}
	return out
}

// withDefaults sets what an API server sets and discovery looks at.
func withDefaults(o online.Object) {
	tcp := corev1.ProtocolTCP
	switch o := o.(type) {
	case *corev1.Namespace:
		if o.Labels == nil {
			o.Labels = map[string]string{}
		}
		o.Labels[corev1.LabelMetadataName] = o.Name
	case *corev1.Service:
		if o.Spec.Type == "" {
			o.Spec.Type = corev1.ServiceTypeClusterIP
		}
		for i := range o.Spec.Ports {
			if o.Spec.Ports[i].Protocol == "" {
				o.Spec.Ports[i].Protocol = tcp
			}
		}
	case *corev1.Endpoints:
		for i := range o.Subsets {
			for k := range o.Subsets[i].Ports {
				if o.Subsets[i].Ports[k].Protocol == "" {
					o.Subsets[i].Ports[k].Protocol = tcp
				}
			}
		}
	case *discoveryv1.EndpointSlice:
		for i := range o.Ports {
			if o.Ports[i].Protocol == nil {
				o.Ports[i].Protocol = &tcp
			}
		}
	case *corev1.Pod:
		for i := range o.Spec.Containers {
			for k := range o.Spec.Containers[i].Ports {
				if o.Spec.Containers[i].Ports[k].Protocol == "" {
					o.Spec.Containers[i].Ports[k].Protocol = tcp
				}
			}
		}
	}
}
