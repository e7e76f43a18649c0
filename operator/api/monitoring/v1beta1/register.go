package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all kinds in this package.
const GroupName = "monitoring.coreos.com"

// Version is the API version of all kinds in this package.
const Version = "v1beta1"

// Kinds and resource names (the plural used in URLs and RBAC).
const (
	AlertmanagerConfigKind     = "AlertmanagerConfig"
	AlertmanagerConfigResource = "alertmanagerconfigs"
)

// SchemeGroupVersion is the group and version the kinds are registered under.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: Version}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package and their lists in a scheme.
var AddToScheme = schemeBuilder.AddToScheme

// GroupVersionKind returns the full name of a kind of this package, such as
// GroupVersionKind(AlertmanagerConfigKind).
func GroupVersionKind(kind string) schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind(kind)
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&AlertmanagerConfig{}, &AlertmanagerConfigList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
