package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// AlertmanagerConfig is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=alertmanagerconfigs,shortName=amcfg
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
type AlertmanagerConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	//
	// +required
	Spec AlertmanagerConfigSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status monitoringv1.ConfigResourceStatus `json:"status,omitempty,omitzero"`
}

// AlertmanagerConfigList is a list of AlertmanagerConfig objects.
//
// +kubebuilder:object:root=true
type AlertmanagerConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []AlertmanagerConfig `json:"items"`
}

// MatchType is an enumeration.
//
// +kubebuilder:validation:Enum="!=";"=";"=~";"!~"
type MatchType string

// Values of MatchType.
const (
	MatchNotEqual  MatchType = "!="
	MatchEqual     MatchType = "="
	MatchRegexp    MatchType = "=~"
	MatchNotRegexp MatchType = "!~"
)

// AlertmanagerConfigSpec holds settings.
type AlertmanagerConfigSpec struct {
	// InhibitRules is a setting.
	//
	// +listType=atomic
	// +optional
	InhibitRules []InhibitRule `json:"inhibitRules,omitempty"`

	// MuteTimeIntervals is a setting.
	//
	// +listType=atomic
	// +optional
	MuteTimeIntervals []MuteTimeInterval `json:"muteTimeIntervals,omitempty"`

	// Receivers is a setting.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Receivers []Receiver `json:"receivers,omitempty"`

	// Route is a setting.
	//
	// +optional
	Route *Route `json:"route,omitempty"`
}

// Route holds settings.
type Route struct {
	// ActiveTimeIntervals is a setting.
	//
	// +listType=set
	// +optional
	ActiveTimeIntervals []string `json:"activeTimeIntervals,omitempty"`

	// Continue is a setting.
	//
	// +optional
	Continue bool `json:"continue,omitempty"`

	// GroupBy is a setting.
	//
	// +listType=set
	// +optional
	GroupBy []string `json:"groupBy,omitempty"`

	// GroupInterval is a setting.
	//
	// +optional
	GroupInterval monitoringv1.NonEmptyDuration `json:"groupInterval,omitempty"`

	// GroupWait is a setting.
	//
	// +optional
	GroupWait monitoringv1.NonEmptyDuration `json:"groupWait,omitempty"`

	// Matchers is a setting.
	//
	// +listType=atomic
	// +optional
	Matchers []Matcher `json:"matchers,omitempty"`

	// MuteTimeIntervals is a setting.
	//
	// +listType=set
	// +optional
	MuteTimeIntervals []string `json:"muteTimeIntervals,omitempty"`

	// Receiver is a setting.
	//
	// +optional
	Receiver string `json:"receiver,omitempty"`

	// RepeatInterval is a setting.
	//
	// +optional
	RepeatInterval monitoringv1.NonEmptyDuration `json:"repeatInterval,omitempty"`

	// Routes is a setting.
	//
	// +listType=atomic
	// +optional
	Routes []apiextensionsv1.JSON `json:"routes,omitempty"`
}

// InhibitRule holds settings.
type InhibitRule struct {
	// Equal is a setting.
	//
	// +listType=atomic
	// +optional
	Equal []string `json:"equal,omitempty"`

	// SourceMatch is a setting.
	//
	// +listType=atomic
	// +optional
	SourceMatch []Matcher `json:"sourceMatch,omitempty"`

	// TargetMatch is a setting.
	//
	// +listType=atomic
	// +optional
	TargetMatch []Matcher `json:"targetMatch,omitempty"`
}

// Matcher holds settings.
type Matcher struct {
	// MatchType is a setting.
	//
	// +optional
	MatchType MatchType `json:"matchType,omitempty"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Regex is a setting.
	//
	// +optional
	Regex bool `json:"regex,omitempty"`

	// Value is a setting.
	//
	// +optional
	Value string `json:"value,omitempty"`
}
