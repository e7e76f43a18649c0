package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// SNSConfig publishes a message by AWS SNS. Exactly one of `topicARN`, `targetARN` and `phoneNumber` is needed.
type SNSConfig struct {
	// URL of the API, http or https with a host; it may be a template. Unset means the one of the region. The
	// empty text rejects the object.
	//
	// +optional
	APIURL *string `json:"apiURL,omitempty"`

	// Attributes of the message; values may be templates.
	//
	// +optional
	Attributes map[string]string `json:"attributes,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the message; it may be a template. Empty means the template `sns.default.message`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Phone number to send a short message to, in the notation of E.164: `+15551234`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	PhoneNumber string `json:"phoneNumber,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// How requests are signed. Without keys and profile the credentials come from the default chain of the AWS
	// SDK; one of the two keys alone rejects the object.
	//
	// +optional
	Sigv4 *monitoringv1.Sigv4 `json:"sigv4,omitempty"`

	// Subject, where the topic delivers by email; it may be a template. Empty means the template
	// `sns.default.subject`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Subject string `json:"subject,omitempty"`

	// ARN of a mobile platform endpoint to send to.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TargetARN string `json:"targetARN,omitempty"`

	// ARN of the topic to publish to. A name that ends in `.fifo` is a FIFO topic: messages of one group keep
	// their order there.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TopicARN string `json:"topicARN,omitempty"`

	// Whether the AWS SDK brings its own HTTP client, which reads the proxy and the certificates of the
	// environment (since Alertmanager 0.33.0; an older one rejects the object). Unset means false.
	//
	// +optional
	UseAWSHTTPClient *bool `json:"useAWSHTTPClient,omitempty"`
}

// WebhookConfig posts notifications as JSON to a URL. `url` or `urlSecret` is needed.
type WebhookConfig struct {
	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// How many alerts one request carries at most; the others are left out and counted in `truncatedAlerts`. 0
	// means all.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxAlerts *int32 `json:"maxAlerts,omitempty"`

	// Template of the body, instead of the usual JSON document (since Alertmanager 0.32.0; an older one rejects
	// the object).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Payload string `json:"payload,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// How long one request may take, such as `10s` (since Alertmanager 0.28.0; left out before). Empty or 0 means
	// as long as the interval of the group allows.
	//
	// +optional
	Timeout monitoringv1.Duration `json:"timeout,omitempty"`

	// URL to post to, http or https with a host; it may be a template.
	//
	// +optional
	URL *string `json:"url,omitempty"`

	// Secret key with the URL to post to. It wins over `url`. A value that is no URL rejects the object, without
	// being shown.
	//
	// +optional
	URLSecret *corev1.SecretKeySelector `json:"urlSecret,omitempty"`
}
