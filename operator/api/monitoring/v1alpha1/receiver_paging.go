package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// PagerDutyConfig opens and resolves incidents in PagerDuty. `routingKey` or `serviceKey` is needed.
type PagerDutyConfig struct {
	// Class of the event, such as `ping failure`; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Class string `json:"class,omitempty"`

	// Name of the monitoring system that sends; it may be a template. Empty means the template
	// `pagerduty.default.client`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Client string `json:"client,omitempty"`

	// URL of the monitoring system, http or https with a host; it may be a template. Unset means the template
	// `pagerduty.default.clientURL`.
	//
	// +optional
	ClientURL *string `json:"clientURL,omitempty"`

	// Part of the machine or service the event is about, such as `mysql`; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Component string `json:"component,omitempty"`

	// What the incident is about, at most 1024 characters; it may be a template. Empty means the template
	// `pagerduty.default.description`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Description string `json:"description,omitempty"`

	// Further details; values may be templates. Of equal names the last wins. Empty means `firing`, `resolved` and
	// the numbers of both.
	//
	// +listType=atomic
	// +optional
	Details []KeyValue `json:"details,omitempty"`

	// Group of components the event is about; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Group string `json:"group,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Images to show in the incident.
	//
	// +listType=atomic
	// +optional
	PagerDutyImageConfigs []PagerDutyImageConfig `json:"pagerDutyImageConfigs,omitempty"`

	// Links to show in the incident.
	//
	// +listType=atomic
	// +optional
	PagerDutyLinkConfigs []PagerDutyLinkConfig `json:"pagerDutyLinkConfigs,omitempty"`

	// Secret key with the integration key of the Events API v2. A missing key rejects the object.
	//
	// +optional
	RoutingKey *corev1.SecretKeySelector `json:"routingKey,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Secret key with the integration key of the older Prometheus integration. A missing key rejects the object.
	//
	// +optional
	ServiceKey *corev1.SecretKeySelector `json:"serviceKey,omitempty"`

	// Severity of the incident: `critical`, `error`, `warning` or `info`; it may be a template. Empty means
	// `error`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Severity string `json:"severity,omitempty"`

	// Machine or service the event is about; it may be a template (since Alertmanager 0.25.0; left out before).
	// Empty means the value of `client`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Source string `json:"source,omitempty"`

	// How long one request may take, such as `10s` (since Alertmanager 0.30.0; left out before). Empty means as
	// long as the interval of the group allows.
	//
	// +optional
	Timeout monitoringv1.Duration `json:"timeout,omitempty"`

	// URL of the API, http or https with a host. Empty means the global one,
	// `https://events.pagerduty.com/v2/enqueue` by default.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	URL string `json:"url,omitempty"`
}

// PagerDutyImageConfig is an image of an incident.
type PagerDutyImageConfig struct {
	// Text where the image cannot be shown.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Alt string `json:"alt,omitempty"`

	// URL the image links to, http or https with a host; it may be a template.
	//
	// +optional
	Href *string `json:"href,omitempty"`

	// URL of the image; PagerDuty wants https.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Src string `json:"src,omitempty"`
}

// PagerDutyLinkConfig is a link of an incident.
type PagerDutyLinkConfig struct {
	// Text of the link. Empty shows the URL itself.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Alt string `json:"alt,omitempty"`

	// URL of the link, http or https with a host; it may be a template.
	//
	// +optional
	Href *string `json:"href,omitempty"`
}

// OpsGenieConfig opens and closes alerts in OpsGenie.
type OpsGenieConfig struct {
	// Names of actions that can be run on the alert, separated by commas (since Alertmanager 0.24.0; left out
	// before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Actions string `json:"actions,omitempty"`

	// Secret key with the key of the API integration. Unset means the global one.
	//
	// +optional
	APIKey *corev1.SecretKeySelector `json:"apiKey,omitempty"`

	// URL of the API, http or https with a host. Empty means the global one, `https://api.opsgenie.com/` by
	// default.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Long text of the alert, at most 15000 characters; it may be a template. Empty means the template
	// `opsgenie.default.description`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Description string `json:"description,omitempty"`

	// Further properties of the alert; values may be templates. Of equal names the last wins. The common labels of
	// the group are always sent.
	//
	// +listType=atomic
	// +optional
	Details []KeyValue `json:"details,omitempty"`

	// Domain the alert is about, such as a machine or an application (since Alertmanager 0.24.0; left out before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Entity string `json:"entity,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Headline of the alert, at most 130 characters; it may be a template. Empty means the template
	// `opsgenie.default.message`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Note that is added when the alert is created; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Note string `json:"note,omitempty"`

	// Priority from P1 (critical) to P5; it may be a template. Empty means OpsGenie's default, P3.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Priority string `json:"priority,omitempty"`

	// Who is notified, besides those that rules of OpsGenie name.
	//
	// +listType=atomic
	// +optional
	Responders []OpsGenieConfigResponder `json:"responders,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Where the alert comes from; it may be a template. Empty means the template `opsgenie.default.source`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Source string `json:"source,omitempty"`

	// Tags of the alert, separated by commas; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Tags string `json:"tags,omitempty"`

	// Whether message and description of an open alert follow changes of the group (since Alertmanager 0.24.0;
	// left out before). Unset means false. The version v1beta1 does not have it.
	//
	// +optional
	UpdateAlerts *bool `json:"updateAlerts,omitempty"`
}

// OpsGenieConfigResponder is who is notified. One of ID, name and user name is needed.
type OpsGenieConfigResponder struct {
	// ID of the team, user, escalation or schedule.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ID string `json:"id,omitempty"`

	// Name of the team, escalation or schedule.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`

	// What the responder is. `teams`, a list of teams separated by commas in `name`, needs Alertmanager 0.24.0; an
	// older one rejects the object.
	//
	// +kubebuilder:validation:Enum=team;teams;user;escalation;schedule
	// +kubebuilder:validation:MinLength=1
	// +required
	Type string `json:"type"`

	// User name, usually the mail address. Only with the type `user`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}

// VictorOpsConfig opens and resolves incidents in VictorOps, which is Splunk On-Call today.
type VictorOpsConfig struct {
	// Secret key with the key of the REST endpoint. Unset means the global one.
	//
	// +optional
	APIKey *corev1.SecretKeySelector `json:"apiKey,omitempty"`

	// URL of the REST endpoint without key and routing key, http or https with a host. Empty means the global one,
	// `https://alert.victorops.com/integrations/generic/20131114/alert/` by default.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiUrl,omitempty"`

	// Further fields of the request; values may be templates. Names the request has anyway (`routing_key`,
	// `message_type`, `state_message`, `entity_display_name`, `monitoring_tool`, `entity_id`, `entity_state`)
	// reject the object.
	//
	// +listType=atomic
	// +optional
	CustomFields []KeyValue `json:"customFields,omitempty"`

	// Headline of the incident; it may be a template. Empty means the template
	// `victorops.default.entity_display_name`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	EntityDisplayName string `json:"entityDisplayName,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// What an alert does while it fires: CRITICAL, WARNING or INFO; it may be a template. Empty means CRITICAL.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MessageType string `json:"messageType,omitempty"`

	// Name of the monitoring system; it may be a template. Empty means the template
	// `victorops.default.monitoring_tool`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MonitoringTool string `json:"monitoringTool,omitempty"`

	// Key that selects the team; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	RoutingKey string `json:"routingKey"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Long text of the incident; it may be a template. Empty means the template `victorops.default.state_message`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	StateMessage string `json:"stateMessage,omitempty"`
}
