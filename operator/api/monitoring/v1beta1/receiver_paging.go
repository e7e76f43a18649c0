package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// PagerDutyConfig opens incidents in PagerDuty. `routingKey` or `serviceKey` is needed.
type PagerDutyConfig struct {
	// Class of the event.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Class string `json:"class,omitempty"`

	// Name of the sender.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Client string `json:"client,omitempty"`

	// URL of the sender.
	//
	// +optional
	ClientURL *string `json:"clientURL,omitempty"`

	// Part of the system the alert is about.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Component string `json:"component,omitempty"`

	// What the incident is about.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Description string `json:"description,omitempty"`

	// Further details. Of equal names the last wins.
	//
	// +listType=atomic
	// +optional
	Details []KeyValue `json:"details,omitempty"`

	// Group of systems the alert is about.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Group string `json:"group,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Images to attach.
	//
	// +listType=atomic
	// +optional
	PagerDutyImageConfigs []PagerDutyImageConfig `json:"pagerDutyImageConfigs,omitempty"`

	// Links to attach.
	//
	// +listType=atomic
	// +optional
	PagerDutyLinkConfigs []PagerDutyLinkConfig `json:"pagerDutyLinkConfigs,omitempty"`

	// Secret key with the integration key of the Events API v2.
	//
	// +optional
	RoutingKey *SecretKeySelector `json:"routingKey,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Secret key with the integration key of the Prometheus integration.
	//
	// +optional
	ServiceKey *SecretKeySelector `json:"serviceKey,omitempty"`

	// Severity of the incident.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Severity string `json:"severity,omitempty"`

	// Where the alert comes from (since Alertmanager 0.25.0).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Source string `json:"source,omitempty"`

	// How long sending may take (since Alertmanager 0.30.0).
	//
	// +optional
	Timeout monitoringv1.Duration `json:"timeout,omitempty"`

	// URL of the API. Empty means the global one.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	URL string `json:"url,omitempty"`
}

// PagerDutyImageConfig is an image attached to an incident.
type PagerDutyImageConfig struct {
	// Text instead of the image.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Alt string `json:"alt,omitempty"`

	// URL the image links to.
	//
	// +optional
	Href *string `json:"href,omitempty"`

	// URL of the image.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Src string `json:"src,omitempty"`
}

// PagerDutyLinkConfig is a link attached to an incident.
type PagerDutyLinkConfig struct {
	// Text of the link.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Alt string `json:"alt,omitempty"`

	// URL of the link.
	//
	// +optional
	Href *string `json:"href,omitempty"`
}

// OpsGenieConfig opens alerts in OpsGenie.
type OpsGenieConfig struct {
	// Comma-separated actions that can be run on the alert (since Alertmanager 0.24.0).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Actions string `json:"actions,omitempty"`

	// Secret key with the API key. Unset means the global one.
	//
	// +optional
	APIKey *SecretKeySelector `json:"apiKey,omitempty"`

	// URL of the API. Empty means the global one.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// What the alert is about.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Description string `json:"description,omitempty"`

	// Further details.
	//
	// +optional
	Details []KeyValue `json:"details,omitempty"`

	// What the alert is about, to group alerts by (since Alertmanager 0.24.0).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Entity string `json:"entity,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the alert, at most 130 characters.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Further note.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Note string `json:"note,omitempty"`

	// Priority, from P1 to P5.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Priority string `json:"priority,omitempty"`

	// Who is notified.
	//
	// +optional
	Responders []OpsGenieConfigResponder `json:"responders,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Where the alert comes from.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Source string `json:"source,omitempty"`

	// Comma-separated tags.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Tags string `json:"tags,omitempty"`
}

// OpsGenieConfigResponder is who is notified; one of ID, name and user name is needed.
type OpsGenieConfigResponder struct {
	// ID of the responder.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ID string `json:"id,omitempty"`

	// Name of the responder.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`

	// What the responder is. `teams` needs Alertmanager 0.24.0.
	//
	// +kubebuilder:validation:Enum=team;teams;user;escalation;schedule
	// +kubebuilder:validation:MinLength=1
	// +required
	Type string `json:"type"`

	// User name of the responder.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}

// VictorOpsConfig opens incidents in VictorOps.
type VictorOpsConfig struct {
	// Secret key with the API key. Unset means the global one.
	//
	// +optional
	APIKey *SecretKeySelector `json:"apiKey,omitempty"`

	// URL of the API. Empty means the global one.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiUrl,omitempty"`

	// Further fields. Names VictorOps uses itself are an error.
	//
	// +listType=atomic
	// +optional
	CustomFields []KeyValue `json:"customFields,omitempty"`

	// Summary of the alert.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	EntityDisplayName string `json:"entityDisplayName,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Kind of incident: CRITICAL, WARNING or INFO.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MessageType string `json:"messageType,omitempty"`

	// Name of the sender.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MonitoringTool string `json:"monitoringTool,omitempty"`

	// Key that selects the team.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	RoutingKey string `json:"routingKey"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Long text of the alert.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	StateMessage string `json:"stateMessage,omitempty"`
}
