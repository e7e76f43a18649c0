package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// SNSConfig holds settings.
type SNSConfig struct {
	// APIURL is a setting.
	//
	// +optional
	APIURL *string `json:"apiURL,omitempty"`

	// Attributes is a setting.
	//
	// +optional
	Attributes map[string]string `json:"attributes,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Message is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// PhoneNumber is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	PhoneNumber string `json:"phoneNumber,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Sigv4 is a setting.
	//
	// +optional
	Sigv4 *monitoringv1.Sigv4 `json:"sigv4,omitempty"`

	// Subject is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Subject string `json:"subject,omitempty"`

	// TargetARN is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TargetARN string `json:"targetARN,omitempty"`

	// TopicARN is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TopicARN string `json:"topicARN,omitempty"`

	// UseAWSHTTPClient is a setting.
	//
	// +optional
	UseAWSHTTPClient *bool `json:"useAWSHTTPClient,omitempty"`
}

// WebhookConfig holds settings.
type WebhookConfig struct {
	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// MaxAlerts is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxAlerts *int32 `json:"maxAlerts,omitempty"`

	// Payload is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Payload string `json:"payload,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Timeout is a setting.
	//
	// +optional
	Timeout monitoringv1.Duration `json:"timeout,omitempty"`

	// URL is a setting.
	//
	// +optional
	URL *string `json:"url,omitempty"`

	// URLSecret is a setting.
	//
	// +optional
	URLSecret *SecretKeySelector `json:"urlSecret,omitempty"`
}
