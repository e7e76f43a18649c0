package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// SNSConfig sends messages to AWS SNS. Exactly one of topic, target and phone number is needed.
type SNSConfig struct {
	// URL of the API. Unset means the one of the region.
	//
	// +optional
	APIURL *string `json:"apiURL,omitempty"`

	// Attributes of the message.
	//
	// +optional
	Attributes map[string]string `json:"attributes,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the notification.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Phone number to send a short message to.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	PhoneNumber string `json:"phoneNumber,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// AWS Signature Version 4 as authentication.
	//
	// +optional
	Sigv4 *monitoringv1.Sigv4 `json:"sigv4,omitempty"`

	// Subject, where the topic delivers by email.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Subject string `json:"subject,omitempty"`

	// ARN of a mobile platform endpoint.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TargetARN string `json:"targetARN,omitempty"`

	// ARN of a topic.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TopicARN string `json:"topicARN,omitempty"`

	// Whether the HTTP client of the AWS SDK is used (since Alertmanager 0.33.0; an error before).
	//
	// +optional
	UseAWSHTTPClient *bool `json:"useAWSHTTPClient,omitempty"`
}

// WebhookConfig sends requests to a webhook. `url` or `urlSecret` is needed.
type WebhookConfig struct {
	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// How many alerts a request carries at most; 0 means all.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxAlerts *int32 `json:"maxAlerts,omitempty"`

	// Template of the body (since Alertmanager 0.32.0; an error before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Payload string `json:"payload,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// How long sending may take (since Alertmanager 0.28.0).
	//
	// +optional
	Timeout monitoringv1.Duration `json:"timeout,omitempty"`

	// URL of the webhook.
	//
	// +optional
	URL *string `json:"url,omitempty"`

	// Secret key with the URL of the webhook. It wins over `url`.
	//
	// +optional
	URLSecret *SecretKeySelector `json:"urlSecret,omitempty"`
}
