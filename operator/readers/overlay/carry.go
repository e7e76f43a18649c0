//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package overlay

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// resources are the Kubernetes resources that commands read.
var resources = map[reflect.Type]schema.GroupVersionResource{
	reflect.TypeFor[*corev1.Namespace]():           readers.Namespaces,
	reflect.TypeFor[*corev1.Node]():                readers.Nodes,
	reflect.TypeFor[*corev1.Pod]():                 readers.Pods,
	reflect.TypeFor[*corev1.Service]():             readers.Services,
	reflect.TypeFor[*corev1.Endpoints]():           readers.Endpoints,
	reflect.TypeFor[*discoveryv1.EndpointSlice]():  readers.EndpointSlices,
	reflect.TypeFor[*networkingv1.Ingress]():       readers.Ingresses,
	reflect.TypeFor[*networkingv1.NetworkPolicy](): readers.NetworkPolicies,
	reflect.TypeFor[*corev1.ServiceAccount]():      readers.ServiceAccounts,
	reflect.TypeFor[*appsv1.Deployment]():          readers.Deployments,
	reflect.TypeFor[*appsv1.StatefulSet]():         readers.StatefulSets,
	reflect.TypeFor[*appsv1.DaemonSet]():           readers.DaemonSets,
	reflect.TypeFor[*batchv1.Job]():                readers.Jobs,
	reflect.TypeFor[*rbacv1.Role]():                readers.Roles,
	reflect.TypeFor[*rbacv1.RoleBinding]():         readers.RoleBindings,
	reflect.TypeFor[*rbacv1.ClusterRole]():         readers.ClusterRoles,
	reflect.TypeFor[*rbacv1.ClusterRoleBinding]():  readers.ClusterRoleBindings,
}

// carry returns a copy of the manifest with the metadata and status that an API server would keep
// from the existing object. there is nil when there is none.
func carry(manifest, there readers.Object) readers.Object {
	out := manifest.DeepCopyObject().(readers.Object)
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

// withDefaults sets the API server defaults that discovery depends on.
func withDefaults(o readers.Object) {
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
