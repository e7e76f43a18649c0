package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
)

// DiscordConfig sends messages to Discord.
type DiscordConfig struct {
	// Secret key with the URL of the webhook.
	//
	// +required
	APIURL corev1.SecretKeySelector `json:"apiURL"`

	// URL of an image to use as avatar (since Alertmanager 0.28.0).
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	AvatarURL string `json:"avatarURL,omitempty"`

	// Text outside the embed (since Alertmanager 0.28.0).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Content string `json:"content,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the notification.
	//
	// +optional
	Message *string `json:"message,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Title of the notification.
	//
	// +optional
	Title *string `json:"title,omitempty"`

	// User name to show (since Alertmanager 0.28.0).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}

// MSTeamsConfig sends messages to Microsoft Teams by a connector.
type MSTeamsConfig struct {
	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Summary of the message (since Alertmanager 0.27.0).
	//
	// +optional
	Summary *string `json:"summary,omitempty"`

	// Text of the notification.
	//
	// +optional
	Text *string `json:"text,omitempty"`

	// Title of the notification.
	//
	// +optional
	Title *string `json:"title,omitempty"`

	// Secret key with the URL of the incoming webhook.
	//
	// +required
	WebhookURL corev1.SecretKeySelector `json:"webhookUrl"`
}

// MSTeamsV2Config sends messages to Microsoft Teams by a workflow.
type MSTeamsV2Config struct {
	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Text of the notification.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// Title of the notification.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// Secret key with the URL of the workflow. It is needed, although the schema does not say so.
	//
	// +optional
	WebhookURL *corev1.SecretKeySelector `json:"webhookURL,omitempty"`
}

// TelegramConfig sends messages to Telegram. Exactly one of `botToken` and `botTokenFile` is needed.
type TelegramConfig struct {
	// URL of the API. Empty means the global one.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Secret key with the token of the bot.
	//
	// +optional
	BotToken *SecretKeySelector `json:"botToken,omitempty"`

	// Path of a file with the token of the bot (since Alertmanager 0.26.0; an error before).
	//
	// +optional
	BotTokenFile string `json:"botTokenFile,omitempty"`

	// ID of the chat; it must not be 0.
	//
	// +required
	ChatID int64 `json:"chatID"`

	// Whether the message makes no sound.
	//
	// +optional
	DisableNotifications *bool `json:"disableNotifications,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the notification.
	//
	// +optional
	Message *string `json:"message,omitempty"`

	// ID of a thread of the chat (since Alertmanager 0.26.0).
	//
	// +optional
	MessageThreadID *int64 `json:"messageThreadID,omitempty"`

	// How the text is formatted.
	//
	// +kubebuilder:validation:Enum=MarkdownV2;Markdown;HTML
	// +optional
	ParseMode string `json:"parseMode,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`
}

// WebexConfig sends messages to Webex. The token goes into `authorization` of `httpConfig`.
type WebexConfig struct {
	// URL of the API. Empty means the global one.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the notification.
	//
	// +optional
	Message *string `json:"message,omitempty"`

	// ID of the room.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	RoomID string `json:"roomID"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`
}

// WeChatConfig sends messages to WeChat. What is empty has the global setting.
type WeChatConfig struct {
	// ID of the agent.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	AgentID string `json:"agentID,omitempty"`

	// Secret key with the API secret.
	//
	// +optional
	APISecret *SecretKeySelector `json:"apiSecret,omitempty"`

	// URL of the API.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// ID of the corporation.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	CorpID string `json:"corpID,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the notification.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Format of the message: `text` or `markdown`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MessageType string `json:"messageType,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Departments to send to.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ToParty string `json:"toParty,omitempty"`

	// Tags to send to.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ToTag string `json:"toTag,omitempty"`

	// Users to send to.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ToUser string `json:"toUser,omitempty"`
}
