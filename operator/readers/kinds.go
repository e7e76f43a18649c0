package readers

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resources of the Kubernetes API groups.
var (
	Namespaces      = corev1.SchemeGroupVersion.WithResource("namespaces")
	Nodes           = corev1.SchemeGroupVersion.WithResource("nodes")
	Pods            = corev1.SchemeGroupVersion.WithResource("pods")
	Services        = corev1.SchemeGroupVersion.WithResource("services")
	Endpoints       = corev1.SchemeGroupVersion.WithResource("endpoints")
	Events          = corev1.SchemeGroupVersion.WithResource("events")
	Secrets         = corev1.SchemeGroupVersion.WithResource("secrets")
	ConfigMaps      = corev1.SchemeGroupVersion.WithResource("configmaps")
	ServiceAccounts = corev1.SchemeGroupVersion.WithResource("serviceaccounts")

	EndpointSlices  = discoveryv1.SchemeGroupVersion.WithResource("endpointslices")
	Ingresses       = networkingv1.SchemeGroupVersion.WithResource("ingresses")
	NetworkPolicies = networkingv1.SchemeGroupVersion.WithResource("networkpolicies")

	Deployments  = appsv1.SchemeGroupVersion.WithResource("deployments")
	StatefulSets = appsv1.SchemeGroupVersion.WithResource("statefulsets")
	DaemonSets   = appsv1.SchemeGroupVersion.WithResource("daemonsets")
	Jobs         = batchv1.SchemeGroupVersion.WithResource("jobs")

	Roles               = rbacv1.SchemeGroupVersion.WithResource("roles")
	RoleBindings        = rbacv1.SchemeGroupVersion.WithResource("rolebindings")
	ClusterRoles        = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
	ClusterRoleBindings = rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings")
)

// clusterScoped are the resources without namespaces.
var clusterScoped = map[schema.GroupVersionResource]bool{
	Namespaces: true, Nodes: true, ClusterRoles: true, ClusterRoleBindings: true,
}
