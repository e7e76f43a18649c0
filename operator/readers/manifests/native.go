package manifests

import (
	"cmp"
	"reflect"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// Native is an object of a Kubernetes kind.
type Native interface {
	metav1.Object
	runtime.Object
}

// nativeKind is a Kubernetes kind that is kept in any version: the relevant fields are the same in
// older ones.
type nativeKind struct {
	empty   func() Native
	cluster bool // the kind is cluster-scoped
}

// nativeKinds are the kinds that affect the discovery of scrape jobs and their permissions, and whether pods are admitted
// and evicted, and the webhooks that check objects.
// Namespaces are kept too, see [reader.namespace].
var nativeKinds = map[schema.GroupKind]nativeKind{
	{Kind: "Service"}: {empty: func() Native { return new(corev1.Service) }},
	{Kind: "Pod"}:     {empty: func() Native { return new(corev1.Pod) }},
	//lint:ignore SA1019 jobs discover this kind by default
	{Kind: "Endpoints"}:      {empty: func() Native { return new(corev1.Endpoints) }},
	{Kind: "Node"}:           {empty: func() Native { return new(corev1.Node) }, cluster: true},
	{Kind: "ServiceAccount"}: {empty: func() Native { return new(corev1.ServiceAccount) }},
	{Kind: "LimitRange"}:     {empty: func() Native { return new(corev1.LimitRange) }},
	{Kind: "ResourceQuota"}:  {empty: func() Native { return new(corev1.ResourceQuota) }},
	{Group: discoveryv1.GroupName, Kind: "EndpointSlice"}:                  {empty: func() Native { return new(discoveryv1.EndpointSlice) }},
	{Group: networkingv1.GroupName, Kind: "Ingress"}:                       {empty: func() Native { return new(networkingv1.Ingress) }},
	{Group: networkingv1.GroupName, Kind: "NetworkPolicy"}:                 {empty: func() Native { return new(networkingv1.NetworkPolicy) }},
	{Group: policyv1.GroupName, Kind: "PodDisruptionBudget"}:               {empty: func() Native { return new(policyv1.PodDisruptionBudget) }},
	{Group: admissionv1.GroupName, Kind: "ValidatingWebhookConfiguration"}: {empty: func() Native { return new(admissionv1.ValidatingWebhookConfiguration) }, cluster: true},
	{Group: admissionv1.GroupName, Kind: "MutatingWebhookConfiguration"}:   {empty: func() Native { return new(admissionv1.MutatingWebhookConfiguration) }, cluster: true},
	{Group: storagev1.GroupName, Kind: "StorageClass"}:                     {empty: func() Native { return new(storagev1.StorageClass) }, cluster: true},
	{Group: appsv1.GroupName, Kind: "Deployment"}:                          {empty: func() Native { return new(appsv1.Deployment) }},
	{Group: appsv1.GroupName, Kind: "StatefulSet"}:                         {empty: func() Native { return new(appsv1.StatefulSet) }},
	{Group: appsv1.GroupName, Kind: "DaemonSet"}:                           {empty: func() Native { return new(appsv1.DaemonSet) }},
	{Group: appsv1.GroupName, Kind: "ReplicaSet"}:                          {empty: func() Native { return new(appsv1.ReplicaSet) }},
	{Group: batchv1.GroupName, Kind: "Job"}:                                {empty: func() Native { return new(batchv1.Job) }},
	{Group: batchv1.GroupName, Kind: "CronJob"}:                            {empty: func() Native { return new(batchv1.CronJob) }},
	{Group: rbacv1.GroupName, Kind: "Role"}:                                {empty: func() Native { return new(rbacv1.Role) }},
	{Group: rbacv1.GroupName, Kind: "RoleBinding"}:                         {empty: func() Native { return new(rbacv1.RoleBinding) }},
	{Group: rbacv1.GroupName, Kind: "ClusterRole"}:                         {empty: func() Native { return new(rbacv1.ClusterRole) }, cluster: true},
	{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding"}:                  {empty: func() Native { return new(rbacv1.ClusterRoleBinding) }, cluster: true},
}

// Native returns the Kubernetes objects among the manifests that affect scraping, in the order of
// the input: Services, Endpoints, EndpointSlices, Pods and the workloads that create them, Nodes,
// Ingresses, NetworkPolicies, PodDisruptionBudgets, Namespaces, ServiceAccounts, LimitRanges, ResourceQuotas, StorageClasses, webhooks and RBAC. Their namespace defaults as in
// kubectl. Of several objects with one name, only the first is included.
func (o *Objects) Native() []Native { return o.native }

// native keeps a Kubernetes object. head is its location, and its name may be empty. Unknown fields
// are ignored, and an object that cannot be decoded is dropped, since the operator does not use it.
func (r *reader) native(kind nativeKind, head Fault, raw []byte) {
	object := kind.empty()
	err := budget.CheckAs(head.Kind, raw, reflect.TypeOf(object).Elem())
	if err == nil {
		err = rewordAll(head.Kind, manifest.DecodeKnown(raw, object))
	}
	if err != nil {
		if r.all {
			head.Err, head.Native = err, true
			r.faults = append(r.faults, head)
		}
		return
	}
	object.SetNamespace(namespaceOr(object.GetNamespace()))
	if kind.cluster {
		object.SetNamespace("")
	}
	r.keepNative(head.Kind, object)
	if err := cmp.Or(portNames(object), wrongAddress(object)); err != nil && r.all && !r.stored {
		head.Err, head.Native = err, true
		r.faults = append(r.faults, head)
	}
}

// keepNative keeps an object if it is the first of its name.
func (r *reader) keepNative(kind string, object Native) {
	if object.GetName() != "" {
		where := place(kind, object.GetNamespace(), object.GetName())
		if _, twice := r.objects.nativePlaces[where]; twice {
			return
		}
		r.objects.nativePlaces[where] = r.at
	}
	r.objects.native = append(r.objects.native, object)
}

// HasNative reports whether an object of a Kubernetes kind is among the manifests.
func (o *Objects) HasNative(r catalog.Ref) bool {
	_, has := o.nativePlaces[place(r.Kind, r.Namespace, r.Name)]
	return has
}
