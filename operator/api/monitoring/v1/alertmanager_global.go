package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// AlertmanagerConfiguration holds settings.
type AlertmanagerConfiguration struct {
	// Global is a setting.
	//
	// +optional
	Global *AlertmanagerGlobalConfig `json:"global,omitempty"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`

	// Templates is a setting.
	//
	// +optional
	Templates []SecretOrConfigMap `json:"templates,omitempty"`
}

// AlertmanagerGlobalConfig holds settings.
type AlertmanagerGlobalConfig struct {
	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfigWithProxy `json:"httpConfig,omitempty"`

	// JiraConfig is a setting.
	//
	// +optional
	JiraConfig *GlobalJiraConfig `json:"jira,omitempty"`

	// MattermostConfig is a setting.
	//
	// +optional
	MattermostConfig *GlobalMattermostConfig `json:"mattermost,omitempty"`

	// OpsGenieAPIKey is a setting.
	//
	// +optional
	OpsGenieAPIKey *corev1.SecretKeySelector `json:"opsGenieApiKey,omitempty"`

	// OpsGenieAPIURL is a setting.
	//
	// +optional
	OpsGenieAPIURL *corev1.SecretKeySelector `json:"opsGenieApiUrl,omitempty"`

	// PagerDutyURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	PagerDutyURL string `json:"pagerdutyUrl,omitempty"`

	// ResolveTimeout is a setting.
	//
	// +optional
	ResolveTimeout Duration `json:"resolveTimeout,omitempty"`

	// RocketChatConfig is a setting.
	//
	// +optional
	RocketChatConfig *GlobalRocketChatConfig `json:"rocketChat,omitempty"`

	// SlackAPIURL is a setting.
	//
	// +optional
	SlackAPIURL *corev1.SecretKeySelector `json:"slackApiUrl,omitempty"`

	// SMTPConfig is a setting.
	//
	// +optional
	SMTPConfig *GlobalSMTPConfig `json:"smtp,omitempty"`

	// TelegramConfig is a setting.
	//
	// +optional
	TelegramConfig *GlobalTelegramConfig `json:"telegram,omitempty"`

	// VictorOpsConfig is a setting.
	//
	// +optional
	VictorOpsConfig *GlobalVictorOpsConfig `json:"victorops,omitempty"`

	// WebexConfig is a setting.
	//
	// +optional
	WebexConfig *GlobalWebexConfig `json:"webex,omitempty"`

	// WeChatConfig is a setting.
	//
	// +optional
	WeChatConfig *GlobalWeChatConfig `json:"wechat,omitempty"`
}

// GlobalSMTPConfig holds settings.
type GlobalSMTPConfig struct {
	// AuthIdentity is a setting.
	//
	// +optional
	AuthIdentity string `json:"authIdentity,omitempty"`

	// AuthPassword is a setting.
	//
	// +optional
	AuthPassword *corev1.SecretKeySelector `json:"authPassword,omitempty"`

	// AuthSecret is a setting.
	//
	// +optional
	AuthSecret *corev1.SecretKeySelector `json:"authSecret,omitempty"`

	// AuthUsername is a setting.
	//
	// +optional
	AuthUsername string `json:"authUsername,omitempty"`

	// ForceImplicitTLS is a setting.
	//
	// +optional
	ForceImplicitTLS *bool `json:"forceImplicitTLS,omitempty"`

	// From is a setting.
	//
	// +optional
	From string `json:"from,omitempty"`

	// Hello is a setting.
	//
	// +optional
	Hello string `json:"hello,omitempty"`

	// RequireTLS is a setting.
	//
	// +optional
	RequireTLS *bool `json:"requireTLS,omitempty"`

	// SmartHost is a setting.
	//
	// +optional
	SmartHost *HostPort `json:"smartHost,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *SafeTLSConfig `json:"tlsConfig,omitempty"`
}

// HostPort holds settings.
type HostPort struct {
	// Host is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Host string `json:"host"`

	// Port is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Port string `json:"port"`
}

// GlobalJiraConfig holds settings.
type GlobalJiraConfig struct {
	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}

// GlobalTelegramConfig holds settings.
type GlobalTelegramConfig struct {
	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}

// GlobalWebexConfig holds settings.
type GlobalWebexConfig struct {
	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}

// GlobalMattermostConfig holds settings.
type GlobalMattermostConfig struct {
	// WebhookURL is a setting.
	//
	// +optional
	WebhookURL *corev1.SecretKeySelector `json:"webhookURL,omitempty"`
}

// GlobalRocketChatConfig holds settings.
type GlobalRocketChatConfig struct {
	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Token is a setting.
	//
	// +optional
	Token *corev1.SecretKeySelector `json:"token,omitempty"`

	// TokenID is a setting.
	//
	// +optional
	TokenID *corev1.SecretKeySelector `json:"tokenID,omitempty"`
}

// GlobalVictorOpsConfig holds settings.
type GlobalVictorOpsConfig struct {
	// APIKey is a setting.
	//
	// +optional
	APIKey *corev1.SecretKeySelector `json:"apiKey,omitempty"`

	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}

// GlobalWeChatConfig holds settings.
type GlobalWeChatConfig struct {
	// APICorpID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	APICorpID string `json:"apiCorpID,omitempty"`

	// APISecret is a setting.
	//
	// +optional
	APISecret *corev1.SecretKeySelector `json:"apiSecret,omitempty"`

	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`
}
