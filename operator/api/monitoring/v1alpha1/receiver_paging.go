package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// PagerDutyConfig holds settings.
type PagerDutyConfig struct {
	// Class is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Class string `json:"class,omitempty"`

	// Client is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Client string `json:"client,omitempty"`

	// ClientURL is a setting.
	//
	// +optional
	ClientURL *string `json:"clientURL,omitempty"`

	// Component is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Component string `json:"component,omitempty"`

	// Description is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Description string `json:"description,omitempty"`

	// Details is a setting.
	//
	// +listType=atomic
	// +optional
	Details []KeyValue `json:"details,omitempty"`

	// Group is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Group string `json:"group,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// PagerDutyImageConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	PagerDutyImageConfigs []PagerDutyImageConfig `json:"pagerDutyImageConfigs,omitempty"`

	// PagerDutyLinkConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	PagerDutyLinkConfigs []PagerDutyLinkConfig `json:"pagerDutyLinkConfigs,omitempty"`

	// RoutingKey is a setting.
	//
	// +optional
	RoutingKey *corev1.SecretKeySelector `json:"routingKey,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// ServiceKey is a setting.
	//
	// +optional
	ServiceKey *corev1.SecretKeySelector `json:"serviceKey,omitempty"`

	// Severity is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Severity string `json:"severity,omitempty"`

	// Source is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Source string `json:"source,omitempty"`

	// Timeout is a setting.
	//
	// +optional
	Timeout monitoringv1.Duration `json:"timeout,omitempty"`

	// URL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	URL string `json:"url,omitempty"`
}

// PagerDutyImageConfig holds settings.
type PagerDutyImageConfig struct {
	// Alt is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Alt string `json:"alt,omitempty"`

	// Href is a setting.
	//
	// +optional
	Href *string `json:"href,omitempty"`

	// Src is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Src string `json:"src,omitempty"`
}

// PagerDutyLinkConfig holds settings.
type PagerDutyLinkConfig struct {
	// Alt is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Alt string `json:"alt,omitempty"`

	// Href is a setting.
	//
	// +optional
	Href *string `json:"href,omitempty"`
}

// OpsGenieConfig holds settings.
type OpsGenieConfig struct {
	// Actions is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Actions string `json:"actions,omitempty"`

	// APIKey is a setting.
	//
	// +optional
	APIKey *corev1.SecretKeySelector `json:"apiKey,omitempty"`

	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Description is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Description string `json:"description,omitempty"`

	// Details is a setting.
	//
	// +listType=atomic
	// +optional
	Details []KeyValue `json:"details,omitempty"`

	// Entity is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Entity string `json:"entity,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Message is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Note is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Note string `json:"note,omitempty"`

	// Priority is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Priority string `json:"priority,omitempty"`

	// Responders is a setting.
	//
	// +listType=atomic
	// +optional
	Responders []OpsGenieConfigResponder `json:"responders,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Source is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Source string `json:"source,omitempty"`

	// Tags is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Tags string `json:"tags,omitempty"`

	// UpdateAlerts is a setting.
	//
	// +optional
	UpdateAlerts *bool `json:"updateAlerts,omitempty"`
}

// OpsGenieConfigResponder holds settings.
type OpsGenieConfigResponder struct {
	// ID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ID string `json:"id,omitempty"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`

	// Type is a setting.
	//
	// +kubebuilder:validation:Enum=team;teams;user;escalation;schedule
	// +kubebuilder:validation:MinLength=1
	// +required
	Type string `json:"type"`

	// Username is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}

// VictorOpsConfig holds settings.
type VictorOpsConfig struct {
	// APIKey is a setting.
	//
	// +optional
	APIKey *corev1.SecretKeySelector `json:"apiKey,omitempty"`

	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiUrl,omitempty"`

	// CustomFields is a setting.
	//
	// +listType=atomic
	// +optional
	CustomFields []KeyValue `json:"customFields,omitempty"`

	// EntityDisplayName is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	EntityDisplayName string `json:"entityDisplayName,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// MessageType is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MessageType string `json:"messageType,omitempty"`

	// MonitoringTool is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MonitoringTool string `json:"monitoringTool,omitempty"`

	// RoutingKey is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	RoutingKey string `json:"routingKey"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// StateMessage is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	StateMessage string `json:"stateMessage,omitempty"`
}
