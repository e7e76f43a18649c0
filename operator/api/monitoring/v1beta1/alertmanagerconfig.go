package v1beta1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// AlertmanagerConfig holds a route with its receivers, inhibition rules and time intervals that an Alertmanager
// object adds to its configuration. By default its alerts are limited to those with the `namespace` label of
// the object.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=alertmanagerconfigs,shortName=amcfg
// +kubebuilder:subresource:status
type AlertmanagerConfig struct {
	metav1.TypeMeta       `json:",inline"`
	metav1.ObjectMeta     `json:"metadata,omitempty"`
	monitoringv1.Decoding `json:"-"`

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

// MatchType is the operator of a matcher: equal, not equal, matches the expression, does not match it.
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

// AlertmanagerConfigSpec is a part of an Alertmanager configuration. Names of receivers and intervals are its
// own; the operator makes them unique.
type AlertmanagerConfigSpec struct {
	// Rules by which firing alerts silence others.
	//
	// +optional
	InhibitRules []InhibitRule `json:"inhibitRules,omitempty"`

	// Receivers that routes refer to. Names must be unique.
	//
	// +optional
	Receivers []Receiver `json:"receivers,omitempty"`

	// Root of the routes. It must have a receiver. Alerts that match it go on to later routes too.
	//
	// +optional
	Route *Route `json:"route,omitempty"`

	// Named sets of times that routes refer to.
	//
	// +optional
	TimeIntervals []TimeInterval `json:"timeIntervals,omitempty"`
}

// Route is a node of the tree by which alerts find their receiver.
type Route struct {
	// Names of intervals outside of which the route sends nothing (since Alertmanager 0.24.0; left out before). An
	// unknown name rejects the object.
	//
	// +optional
	ActiveTimeIntervals []string `json:"activeTimeIntervals,omitempty"`

	// Whether alerts that match go on to the next sibling. On the root the operator sets it, because alerts must
	// reach the routes of other objects too.
	//
	// +optional
	Continue bool `json:"continue,omitempty"`

	// Labels alerts are grouped by. `...` as the only entry groups by all labels. A name twice, or `...` with
	// others, rejects the object.
	//
	// +optional
	GroupBy []string `json:"groupBy,omitempty"`

	// Least time before a group is sent again because of new alerts, such as `5m`. Empty means the parent's, 5m at
	// the top.
	//
	// +optional
	GroupInterval monitoringv1.NonEmptyDuration `json:"groupInterval,omitempty"`

	// How long a new group waits for more alerts before it is sent, such as `30s`. Empty means the parent's, 30s
	// at the top.
	//
	// +optional
	GroupWait monitoringv1.NonEmptyDuration `json:"groupWait,omitempty"`

	// Matchers an alert must meet, all of them. None means every alert.
	//
	// +optional
	Matchers []Matcher `json:"matchers,omitempty"`

	// Names of intervals in which the route sends nothing (since Alertmanager 0.22.0; left out before). An unknown
	// name rejects the object.
	//
	// +optional
	MuteTimeIntervals []string `json:"muteTimeIntervals,omitempty"`

	// Name of the receiver. Empty means the parent's; the root must have one. An unknown name rejects the object.
	//
	// +optional
	Receiver string `json:"receiver,omitempty"`

	// Least time before an unchanged group is sent again, such as `4h`. Empty means the parent's, by default 4h at the top.
	//
	// +optional
	RepeatInterval monitoringv1.NonEmptyDuration `json:"repeatInterval,omitempty"`

	// Child routes, each of the same form as this one. An unknown field in a child rejects the object.
	//
	// +optional
	Routes []apiextensionsv1.JSON `json:"routes,omitempty"`
}

// InhibitRule silences alerts that match the target while an alert that matches the source fires.
type InhibitRule struct {
	// Labels that must have the same value in both alerts.
	//
	// +optional
	Equal []string `json:"equal,omitempty"`

	// Matchers of the alert that silences.
	//
	// +optional
	SourceMatch []Matcher `json:"sourceMatch,omitempty"`

	// Matchers of the alerts that are silenced.
	//
	// +optional
	TargetMatch []Matcher `json:"targetMatch,omitempty"`
}

// Matcher compares one label of an alert.
type Matcher struct {
	// Operator (since Alertmanager 0.22.0; an error before).
	//
	// +optional
	MatchType MatchType `json:"matchType,omitempty"`

	// Name of the label.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Value or expression to compare with.
	//
	// +optional
	Value string `json:"value,omitempty"`
}
