package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// AlertmanagerConfiguration names the AlertmanagerConfig that is the base of the configuration.
type AlertmanagerConfiguration struct {
	// Global section of the configuration.
	//
	// +optional
	Global *AlertmanagerGlobalConfig `json:"global,omitempty"`

	// Name of the AlertmanagerConfig, in the same namespace. Its routes are not limited to the namespace.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`

	// Files with notification templates.
	//
	// +optional
	Templates []SecretOrConfigMap `json:"templates,omitempty"`
}

// AlertmanagerGlobalConfig is the global section of the configuration: defaults that receivers fall back to.
type AlertmanagerGlobalConfig struct {
	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfigWithProxy `json:"httpConfig,omitempty"`

	// Defaults of Jira receivers (since Alertmanager 0.28.0).
	//
	// +optional
	JiraConfig *GlobalJiraConfig `json:"jira,omitempty"`

	// Defaults of Mattermost receivers (since Alertmanager 0.32.0).
	//
	// +optional
	MattermostConfig *GlobalMattermostConfig `json:"mattermost,omitempty"`

	// Secret key with the API key of OpsGenie.
	//
	// +optional
	OpsGenieAPIKey *corev1.SecretKeySelector `json:"opsGenieApiKey,omitempty"`

	// Secret key with the URL of the OpsGenie API.
	//
	// +optional
	OpsGenieAPIURL *corev1.SecretKeySelector `json:"opsGenieApiUrl,omitempty"`

	// URL of the PagerDuty API.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	PagerDutyURL string `json:"pagerdutyUrl,omitempty"`

	// Time after which an alert that is no longer sent counts as resolved, unless it says itself when it ends.
	//
	// +optional
	ResolveTimeout Duration `json:"resolveTimeout,omitempty"`

	// Defaults of Rocket.Chat receivers (since Alertmanager 0.28.0).
	//
	// +optional
	RocketChatConfig *GlobalRocketChatConfig `json:"rocketChat,omitempty"`

	// Secret key with the URL of the Slack API.
	//
	// +optional
	SlackAPIURL *corev1.SecretKeySelector `json:"slackApiUrl,omitempty"`

	// Defaults of email receivers.
	//
	// +optional
	SMTPConfig *GlobalSMTPConfig `json:"smtp,omitempty"`

	// Defaults of Telegram receivers (since Alertmanager 0.24.0).
	//
	// +optional
	TelegramConfig *GlobalTelegramConfig `json:"telegram,omitempty"`

	// Defaults of VictorOps receivers.
	//
	// +optional
	VictorOpsConfig *GlobalVictorOpsConfig `json:"victorops,omitempty"`

	// Defaults of Webex receivers (since Alertmanager 0.25.0).
	//
	// +optional
	WebexConfig *GlobalWebexConfig `json:"webex,omitempty"`

	// Defaults of WeChat receivers.
	//
	// +optional
	WeChatConfig *GlobalWeChatConfig `json:"wechat,omitempty"`
}

// GlobalSMTPConfig is the mail server that email receivers use unless they say otherwise.
type GlobalSMTPConfig struct {
	// Identity for PLAIN authentication.
	//
	// +optional
	AuthIdentity string `json:"authIdentity,omitempty"`

	// Secret key with the password for LOGIN and PLAIN authentication.
	//
	// +optional
	AuthPassword *corev1.SecretKeySelector `json:"authPassword,omitempty"`

	// Secret key with the secret for CRAM-MD5 authentication.
	//
	// +optional
	AuthSecret *corev1.SecretKeySelector `json:"authSecret,omitempty"`

	// User name for authentication.
	//
	// +optional
	AuthUsername string `json:"authUsername,omitempty"`

	// Whether TLS starts with the connection instead of by STARTTLS (since Alertmanager 0.31.0). Unset means
	// only on port 465.
	//
	// +optional
	ForceImplicitTLS *bool `json:"forceImplicitTLS,omitempty"`

	// Sender address.
	//
	// +optional
	From string `json:"from,omitempty"`

	// Host name to greet the mail server with.
	//
	// +optional
	Hello string `json:"hello,omitempty"`

	// Whether mail is sent only over TLS. Unset means true.
	//
	// +optional
	RequireTLS *bool `json:"requireTLS,omitempty"`

	// Host and port of the mail server.
	//
	// +optional
	SmartHost *HostPort `json:"smartHost,omitempty"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *SafeTLSConfig `json:"tlsConfig,omitempty"`
}

// HostPort is a host with a port.
type HostPort struct {
	// Host name or address.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Host string `json:"host"`

	// Port number or name.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Port string `json:"port"`
}

// GlobalJiraConfig holds defaults of Jira receivers.
type GlobalJiraConfig struct {
	// URL of the service's API.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}

// GlobalTelegramConfig holds defaults of Telegram receivers.
type GlobalTelegramConfig struct {
	// URL of the service's API.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}

// GlobalWebexConfig holds defaults of Webex receivers.
type GlobalWebexConfig struct {
	// URL of the service's API.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}

// GlobalMattermostConfig holds defaults of Mattermost receivers.
type GlobalMattermostConfig struct {
	// Secret key with the URL of the incoming webhook.
	//
	// +optional
	WebhookURL *corev1.SecretKeySelector `json:"webhookURL,omitempty"`
}

// GlobalRocketChatConfig holds defaults of Rocket.Chat receivers.
type GlobalRocketChatConfig struct {
	// URL of the service's API.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Secret key with the token of the sender.
	//
	// +optional
	Token *corev1.SecretKeySelector `json:"token,omitempty"`

	// Secret key with the ID of the token.
	//
	// +optional
	TokenID *corev1.SecretKeySelector `json:"tokenID,omitempty"`
}

// GlobalVictorOpsConfig holds defaults of VictorOps receivers.
type GlobalVictorOpsConfig struct {
	// Secret key with the API key.
	//
	// +optional
	APIKey *corev1.SecretKeySelector `json:"apiKey,omitempty"`

	// URL of the service's API.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}

// GlobalWeChatConfig holds defaults of WeChat receivers.
type GlobalWeChatConfig struct {
	// Corporation ID for authentication.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	APICorpID string `json:"apiCorpID,omitempty"`

	// Secret key with the API secret.
	//
	// +optional
	APISecret *corev1.SecretKeySelector `json:"apiSecret,omitempty"`

	// URL of the service's API.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}
