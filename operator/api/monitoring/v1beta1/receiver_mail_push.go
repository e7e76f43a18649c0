package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// EmailConfig sends emails. Settings of the mail server that are unset have the global value.
type EmailConfig struct {
	// Identity for PLAIN authentication.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	AuthIdentity string `json:"authIdentity,omitempty"`

	// Secret key with the password for LOGIN and PLAIN authentication.
	//
	// +optional
	AuthPassword *SecretKeySelector `json:"authPassword,omitempty"`

	// Secret key with the secret for CRAM-MD5 authentication.
	//
	// +optional
	AuthSecret *SecretKeySelector `json:"authSecret,omitempty"`

	// User name for authentication.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	AuthUsername string `json:"authUsername,omitempty"`

	// Whether TLS starts with the connection instead of by STARTTLS (since Alertmanager 0.31.0). Unset means
	// only on port 465.
	//
	// +optional
	ForceImplicitTLS *bool `json:"forceImplicitTLS,omitempty"`

	// Sender address.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	From string `json:"from,omitempty"`

	// Headers to set. Names must be unique, whatever their letter case.
	//
	// +optional
	Headers []KeyValue `json:"headers,omitempty"`

	// Host name to greet the mail server with.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Hello string `json:"hello,omitempty"`

	// HTML body; it may be a template. Empty, as opposed to unset, sends a plain text mail.
	//
	// +optional
	HTML *string `json:"html,omitempty"`

	// Whether mail is sent only over TLS. Unset means true.
	//
	// +optional
	RequireTLS *bool `json:"requireTLS,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Host and port of the mail server.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Smarthost string `json:"smarthost,omitempty"`

	// Plain text body; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// Headers by which mails of one group form a thread (since Alertmanager 0.30.0; an error before).
	//
	// +optional
	Threading *EmailThreadingConfig `json:"threading,omitempty"`

	// TLS settings of the connection to the mail server.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`

	// Recipient addresses.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	To string `json:"to,omitempty"`
}

// EmailThreadingConfig is how mails form threads.
type EmailThreadingConfig struct {
	// Whether each day starts a new thread.
	//
	// +kubebuilder:validation:Enum=Daily;None
	// +required
	ThreadByDate string `json:"threadByDate"`
}

// PushoverConfig sends messages by Pushover.
type PushoverConfig struct {
	// Device to send to (since Alertmanager 0.26.0). Empty means all.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Device string `json:"device,omitempty"`

	// How long a message of priority 2 is repeated until somebody reads it.
	//
	// +kubebuilder:validation:Pattern=`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`
	// +optional
	Expire string `json:"expire,omitempty"`

	// Whether the text is HTML. Not together with `monospace`.
	//
	// +optional
	HTML *bool `json:"html,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the notification.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Whether the text is shown in a fixed-width font (since Alertmanager 0.29.0).
	//
	// +optional
	Monospace *bool `json:"monospace,omitempty"`

	// Priority, from -2 to 2; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Priority string `json:"priority,omitempty"`

	// Time between two repeats of a message of priority 2, at least 30s.
	//
	// +kubebuilder:validation:Pattern=`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`
	// +optional
	Retry string `json:"retry,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Sound of the message.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Sound string `json:"sound,omitempty"`

	// Title of the notification.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// Secret key with the token of the application. Unset needs `tokenFile`.
	//
	// +optional
	Token *SecretKeySelector `json:"token,omitempty"`

	// Path of a file with the token of the application (since Alertmanager 0.26.0).
	//
	// +optional
	TokenFile string `json:"tokenFile,omitempty"`

	// Time after which the message is deleted (since Alertmanager 0.27.0).
	//
	// +optional
	TTL monitoringv1.Duration `json:"ttl,omitempty"`

	// URL to show with the message.
	//
	// +optional
	URL *string `json:"url,omitempty"`

	// Text of the URL.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	URLTitle string `json:"urlTitle,omitempty"`

	// Secret key with the key of the user or group. Unset needs `userKeyFile`.
	//
	// +optional
	UserKey *SecretKeySelector `json:"userKey,omitempty"`

	// Path of a file with the key of the user or group (since Alertmanager 0.26.0).
	//
	// +optional
	UserKeyFile string `json:"userKeyFile,omitempty"`
}
