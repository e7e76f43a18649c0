package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// EmailConfig sends mails. Settings of the mail server that are unset have the global value; an Alertmanager
// without a global one fails as a whole then.
type EmailConfig struct {
	// Identity for PLAIN authentication, if it is not the user name.
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

	// User name for CRAM-MD5, LOGIN and PLAIN authentication. Empty means the global one; if that is empty too, no
	// authentication.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	AuthUsername string `json:"authUsername,omitempty"`

	// Whether TLS starts with the connection instead of by STARTTLS (since Alertmanager 0.31.0; an older one
	// rejects the object). Unset means on port 465 only.
	//
	// +optional
	ForceImplicitTLS *bool `json:"forceImplicitTLS,omitempty"`

	// Sender address, `name@example.org` or `Name <name@example.org>`; it may be a template. Empty means the
	// global one.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	From string `json:"from,omitempty"`

	// Headers to set, such as `Subject`; values may be templates. Names that differ in letter case only reject the
	// object.
	//
	// +optional
	Headers []KeyValue `json:"headers,omitempty"`

	// Host name to greet the mail server with. Empty means the global one, `localhost` by default.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Hello string `json:"hello,omitempty"`

	// HTML body; it may be a template. Unset means the template `email.default.html`. Empty, as opposed to unset,
	// sends a plain text mail.
	//
	// +optional
	HTML *string `json:"html,omitempty"`

	// Whether mail is sent only over TLS. Unset means the global setting, true by default.
	//
	// +optional
	RequireTLS *bool `json:"requireTLS,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means false.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Mail server as `host:port`. Empty means the global one. Text without a port rejects the object.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Smarthost string `json:"smarthost,omitempty"`

	// Plain text body; it may be a template. Empty means none, if there is an HTML body.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// Headers by which mail programs show the mails of a group as one thread (since Alertmanager 0.30.0; an older
	// one rejects the object).
	//
	// +optional
	Threading *EmailThreadingConfig `json:"threading,omitempty"`

	// TLS settings of the connection to the mail server.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`

	// Recipient addresses, separated by commas; it may be a template. It is needed, although the schema does not
	// say so.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	To string `json:"to,omitempty"`
}

// EmailThreadingConfig is how mails form threads.
type EmailThreadingConfig struct {
	// When a thread ends: `Daily` starts a new one each day in UTC, `None` keeps all mails of a group in one.
	//
	// +kubebuilder:validation:Enum=Daily;None
	// +required
	ThreadByDate string `json:"threadByDate"`
}

// PushoverConfig sends push notices by Pushover.
type PushoverConfig struct {
	// Names of devices to send to, separated by commas (since Alertmanager 0.26.0; left out before). Empty means
	// all of the user.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Device string `json:"device,omitempty"`

	// How long a notice of priority 2 is repeated until a user confirms it, such as `1h`; at most 3h. Empty
	// means 1h.
	//
	// +kubebuilder:validation:Pattern=`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`
	// +optional
	Expire string `json:"expire,omitempty"`

	// Whether the text is HTML. Not together with `monospace`, which rejects the object. Unset means false.
	//
	// +optional
	HTML *bool `json:"html,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the notice; it may be a template. Empty means the template `pushover.default.message`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Whether the text is shown in a fixed-width font (since Alertmanager 0.29.0; false before). Not together with
	// `html`. Unset means false.
	//
	// +optional
	Monospace *bool `json:"monospace,omitempty"`

	// Priority, from -2 (no notice) to 2 (repeated until confirmed); it may be a template. Empty means 2 while an
	// alert fires, else 0.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Priority string `json:"priority,omitempty"`

	// Time between two repeats of a notice of priority 2, such as `1m`; at least 30s. Empty means 1m.
	//
	// +kubebuilder:validation:Pattern=`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`
	// +optional
	Retry string `json:"retry,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Name of the sound, such as `siren`. Empty means the user's own.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Sound string `json:"sound,omitempty"`

	// Title of the notice; it may be a template. Empty means the template `pushover.default.title`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// Secret key with the token of the application. Unset needs `tokenFile`. An empty value rejects the object.
	//
	// +optional
	Token *SecretKeySelector `json:"token,omitempty"`

	// Path of a file in the Alertmanager container with the token of the application (since Alertmanager 0.26.0).
	//
	// +optional
	TokenFile string `json:"tokenFile,omitempty"`

	// Time after which the notice is deleted from devices, such as `1d` (since Alertmanager 0.27.0; left out
	// before). Empty means never.
	//
	// +optional
	TTL monitoringv1.Duration `json:"ttl,omitempty"`

	// URL to show with the notice, http or https with a host; it may be a template. Unset means the template
	// `pushover.default.url`.
	//
	// +optional
	URL *string `json:"url,omitempty"`

	// Text of the URL; it may be a template. Empty shows the URL itself.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	URLTitle string `json:"urlTitle,omitempty"`

	// Secret key with the key of the user or group. Unset needs `userKeyFile`. An empty value rejects the object.
	//
	// +optional
	UserKey *SecretKeySelector `json:"userKey,omitempty"`

	// Path of a file in the Alertmanager container with the key of the user or group (since Alertmanager 0.26.0).
	//
	// +optional
	UserKeyFile string `json:"userKeyFile,omitempty"`
}
