package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all kinds in this package.
const GroupName = "monitoring.coreos.com"

// Version is the API version of all kinds in this package.
const Version = "v1alpha1"

// Kinds and resource names (the plural used in URLs and RBAC).
const (
	PrometheusAgentKind        = "PrometheusAgent"
	PrometheusAgentResource    = "prometheusagents"
	ScrapeConfigKind           = "ScrapeConfig"
	ScrapeConfigResource       = "scrapeconfigs"
	AlertmanagerConfigKind     = "AlertmanagerConfig"
	AlertmanagerConfigResource = "alertmanagerconfigs"
)

// SchemeGroupVersion is the group and version the kinds are registered under.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: Version}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package and their lists in a scheme.
var AddToScheme = schemeBuilder.AddToScheme

// GroupVersionKind returns the full name of a kind of this package, such as
// GroupVersionKind(PrometheusAgentKind).
func GroupVersionKind(kind string) schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind(kind)
}

// GroupVersionResource returns the full name of a resource of this package, such
// as GroupVersionResource(PrometheusAgentResource).
func GroupVersionResource(resource string) schema.GroupVersionResource {
	return SchemeGroupVersion.WithResource(resource)
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&PrometheusAgent{}, &PrometheusAgentList{},
		&ScrapeConfig{}, &ScrapeConfigList{},
		&AlertmanagerConfig{}, &AlertmanagerConfigList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
