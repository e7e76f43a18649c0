package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all kinds in this package.
const GroupName = "monitoring.coreos.com"

// Version is the API version of all kinds in this package.
const Version = "v1"

// Kinds and resource names (the plural used in URLs and RBAC).
const (
	PrometheusKind         = "Prometheus"
	PrometheusResource     = "prometheuses"
	ServiceMonitorKind     = "ServiceMonitor"
	ServiceMonitorResource = "servicemonitors"
	PodMonitorKind         = "PodMonitor"
	PodMonitorResource     = "podmonitors"
	PrometheusRuleKind     = "PrometheusRule"
	PrometheusRuleResource = "prometheusrules"
	ProbeKind              = "Probe"
	ProbeResource          = "probes"
	AlertmanagerKind       = "Alertmanager"
	AlertmanagerResource   = "alertmanagers"
	ThanosRulerKind        = "ThanosRuler"
	ThanosRulerResource    = "thanosrulers"
)

// SchemeGroupVersion is the group and version the kinds are registered under.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: Version}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package and their lists in a scheme.
var AddToScheme = schemeBuilder.AddToScheme

// GroupVersionKind returns the full name of a kind of this package, such as
// GroupVersionKind(PrometheusKind).
func GroupVersionKind(kind string) schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind(kind)
}

// GroupVersionResource returns the full name of a resource of this package, such
// as GroupVersionResource(PrometheusResource).
func GroupVersionResource(resource string) schema.GroupVersionResource {
	return SchemeGroupVersion.WithResource(resource)
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&Prometheus{}, &PrometheusList{},
		&ServiceMonitor{}, &ServiceMonitorList{},
		&PodMonitor{}, &PodMonitorList{},
		&PrometheusRule{}, &PrometheusRuleList{},
		&Probe{}, &ProbeList{},
		&Alertmanager{}, &AlertmanagerList{},
		&ThanosRuler{}, &ThanosRulerList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
