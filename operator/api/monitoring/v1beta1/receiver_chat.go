package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
)

// DiscordConfig holds settings.
type DiscordConfig struct {
	// APIURL is a setting.
	//
	// +required
	APIURL corev1.SecretKeySelector `json:"apiURL"`

	// AvatarURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	AvatarURL string `json:"avatarURL,omitempty"`

	// Content is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Content string `json:"content,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Message is a setting.
	//
	// +optional
	Message *string `json:"message,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Title is a setting.
	//
	// +optional
	Title *string `json:"title,omitempty"`

	// Username is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}

// MSTeamsConfig holds settings.
type MSTeamsConfig struct {
	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Summary is a setting.
	//
	// +optional
	Summary *string `json:"summary,omitempty"`

	// Text is a setting.
	//
	// +optional
	Text *string `json:"text,omitempty"`

	// Title is a setting.
	//
	// +optional
	Title *string `json:"title,omitempty"`

	// WebhookURL is a setting.
	//
	// +required
	WebhookURL corev1.SecretKeySelector `json:"webhookUrl"`
}

// MSTeamsV2Config holds settings.
type MSTeamsV2Config struct {
	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Text is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// Title is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// WebhookURL is a setting.
	//
	// +optional
	WebhookURL *corev1.SecretKeySelector `json:"webhookURL,omitempty"`
}

// TelegramConfig holds settings.
type TelegramConfig struct {
	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// BotToken is a setting.
	//
	// +optional
	BotToken *SecretKeySelector `json:"botToken,omitempty"`

	// BotTokenFile is a setting.
	//
	// +optional
	BotTokenFile string `json:"botTokenFile,omitempty"`

	// ChatID is a setting.
	//
	// +required
	ChatID int64 `json:"chatID"`

	// DisableNotifications is a setting.
	//
	// +optional
	DisableNotifications *bool `json:"disableNotifications,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Message is a setting.
	//
	// +optional
	Message *string `json:"message,omitempty"`

	// MessageThreadID is a setting.
	//
	// +optional
	MessageThreadID *int64 `json:"messageThreadID,omitempty"`

	// ParseMode is a setting.
	//
	// +kubebuilder:validation:Enum=MarkdownV2;Markdown;HTML
	// +optional
	ParseMode string `json:"parseMode,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`
}

// WebexConfig holds settings.
type WebexConfig struct {
	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Message is a setting.
	//
	// +optional
	Message *string `json:"message,omitempty"`

	// RoomID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	RoomID string `json:"roomID"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`
}

// WeChatConfig holds settings.
type WeChatConfig struct {
	// AgentID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	AgentID string `json:"agentID,omitempty"`

	// APISecret is a setting.
	//
	// +optional
	APISecret *SecretKeySelector `json:"apiSecret,omitempty"`

	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// CorpID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	CorpID string `json:"corpID,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Message is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// MessageType is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MessageType string `json:"messageType,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// ToParty is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ToParty string `json:"toParty,omitempty"`

	// ToTag is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ToTag string `json:"toTag,omitempty"`

	// ToUser is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ToUser string `json:"toUser,omitempty"`
}
