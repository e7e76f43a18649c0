package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// EmailConfig holds settings.
type EmailConfig struct {
	// AuthIdentity is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	AuthIdentity string `json:"authIdentity,omitempty"`

	// AuthPassword is a setting.
	//
	// +optional
	AuthPassword *SecretKeySelector `json:"authPassword,omitempty"`

	// AuthSecret is a setting.
	//
	// +optional
	AuthSecret *SecretKeySelector `json:"authSecret,omitempty"`

	// AuthUsername is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	AuthUsername string `json:"authUsername,omitempty"`

	// ForceImplicitTLS is a setting.
	//
	// +optional
	ForceImplicitTLS *bool `json:"forceImplicitTLS,omitempty"`

	// From is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	From string `json:"from,omitempty"`

	// Headers is a setting.
	//
	// +optional
	Headers []KeyValue `json:"headers,omitempty"`

	// Hello is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Hello string `json:"hello,omitempty"`

	// HTML is a setting.
	//
	// +optional
	HTML *string `json:"html,omitempty"`

	// RequireTLS is a setting.
	//
	// +optional
	RequireTLS *bool `json:"requireTLS,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Smarthost is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Smarthost string `json:"smarthost,omitempty"`

	// Text is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// Threading is a setting.
	//
	// +optional
	Threading *EmailThreadingConfig `json:"threading,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`

	// To is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	To string `json:"to,omitempty"`
}

// EmailThreadingConfig holds settings.
type EmailThreadingConfig struct {
	// ThreadByDate is a setting.
	//
	// +kubebuilder:validation:Enum=Daily;None
	// +required
	ThreadByDate string `json:"threadByDate"`
}

// PushoverConfig holds settings.
type PushoverConfig struct {
	// Device is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Device string `json:"device,omitempty"`

	// Expire is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`
	// +optional
	Expire string `json:"expire,omitempty"`

	// HTML is a setting.
	//
	// +optional
	HTML *bool `json:"html,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Message is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Monospace is a setting.
	//
	// +optional
	Monospace *bool `json:"monospace,omitempty"`

	// Priority is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Priority string `json:"priority,omitempty"`

	// Retry is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`
	// +optional
	Retry string `json:"retry,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Sound is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Sound string `json:"sound,omitempty"`

	// Title is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// Token is a setting.
	//
	// +optional
	Token *SecretKeySelector `json:"token,omitempty"`

	// TokenFile is a setting.
	//
	// +optional
	TokenFile string `json:"tokenFile,omitempty"`

	// TTL is a setting.
	//
	// +optional
	TTL monitoringv1.Duration `json:"ttl,omitempty"`

	// URL is a setting.
	//
	// +optional
	URL *string `json:"url,omitempty"`

	// URLTitle is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	URLTitle string `json:"urlTitle,omitempty"`

	// UserKey is a setting.
	//
	// +optional
	UserKey *SecretKeySelector `json:"userKey,omitempty"`

	// UserKeyFile is a setting.
	//
	// +optional
	UserKeyFile string `json:"userKeyFile,omitempty"`
}
