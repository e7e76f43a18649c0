package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// DiscordConfig posts a message to a Discord channel through its webhook (since Alertmanager 0.25.0; an older one
// rejects the object).
type DiscordConfig struct {
	// Secret key with the URL of the webhook, http or https with a host; blanks around it are removed. A value
	// that is no such URL, or a missing key, rejects the object.
	//
	// +required
	APIURL corev1.SecretKeySelector `json:"apiURL"`

	// URL of an image to use as avatar instead of the webhook's (since Alertmanager 0.28.0; left out before).
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	AvatarURL string `json:"avatarURL,omitempty"`

	// Text above the embed; it may be a template (since Alertmanager 0.28.0; left out before). Empty means none.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Content string `json:"content,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the embed; it may be a template. Unset means the template `discord.default.message`.
	//
	// +optional
	Message *string `json:"message,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Title of the embed; it may be a template. Unset means the template `discord.default.title`.
	//
	// +optional
	Title *string `json:"title,omitempty"`

	// Name to show as the sender instead of the webhook's (since Alertmanager 0.28.0; left out before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}

// MSTeamsConfig posts a card to Microsoft Teams through a connector (since Alertmanager 0.26.0; an older one
// rejects the object). Microsoft has replaced connectors by workflows, see MSTeamsV2Config.
type MSTeamsConfig struct {
	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Short text for notices on devices; it may be a template (since Alertmanager 0.27.0; left out before). Unset
	// means the template `msteams.default.summary`.
	//
	// +optional
	Summary *string `json:"summary,omitempty"`

	// Text of the card; it may be a template. Unset means the template `msteams.default.text`.
	//
	// +optional
	Text *string `json:"text,omitempty"`

	// Title of the card; it may be a template. Unset means the template `msteams.default.title`.
	//
	// +optional
	Title *string `json:"title,omitempty"`

	// Secret key with the URL of the incoming webhook, http or https with a host. A missing key rejects the
	// object.
	//
	// +required
	WebhookURL corev1.SecretKeySelector `json:"webhookUrl"`
}

// MSTeamsV2Config posts an adaptive card to Microsoft Teams through a workflow (since Alertmanager 0.28.0; an
// older one rejects the object).
type MSTeamsV2Config struct {
	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Text of the card; it may be a template. Empty means the template `msteamsv2.default.text`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// Title of the card; it may be a template. Empty means the template `msteamsv2.default.title`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// Secret key with the URL of the workflow, http or https with a host. It is needed, although the schema does
	// not say so.
	//
	// +optional
	WebhookURL *corev1.SecretKeySelector `json:"webhookURL,omitempty"`
}

// TelegramConfig sends a message as a Telegram bot (since Alertmanager 0.24.0; an older one rejects the object).
// Exactly one of `botToken` and `botTokenFile` is needed.
type TelegramConfig struct {
	// URL of the Bot API, http or https with a host. Empty means the global one, `https://api.telegram.org` by
	// default.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Secret key with the token of the bot, as BotFather hands it out. An empty value or a missing key is an
	// error.
	//
	// +optional
	BotToken *corev1.SecretKeySelector `json:"botToken,omitempty"`

	// Path of a file in the Alertmanager container with the token of the bot (since Alertmanager 0.26.0; an older
	// one rejects the object).
	//
	// +optional
	BotTokenFile string `json:"botTokenFile,omitempty"`

	// ID of the chat: positive for a user, negative for a group or channel. 0 rejects the object.
	//
	// +required
	ChatID int64 `json:"chatID"`

	// Whether the message arrives without a sound. Unset means false.
	//
	// +optional
	DisableNotifications *bool `json:"disableNotifications,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the message in the notation that `parseMode` names; it may be a template. Unset means the template
	// `telegram.default.message`.
	//
	// +optional
	Message *string `json:"message,omitempty"`

	// ID of a topic in a group that has topics (since Alertmanager 0.26.0; left out before).
	//
	// +optional
	MessageThreadID *int64 `json:"messageThreadID,omitempty"`

	// Notation of the text. Empty means HTML.
	//
	// +kubebuilder:validation:Enum=MarkdownV2;Markdown;HTML
	// +optional
	ParseMode string `json:"parseMode,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`
}

// WebexConfig posts a message to a Webex room (since Alertmanager 0.25.0; an older one rejects the object). The
// token of the bot goes into `authorization` of `httpConfig`; Alertmanager demands it.
type WebexConfig struct {
	// URL that messages are posted to, http or https with a host. Empty means the global one,
	// `https://webexapis.com/v1/messages` by default.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Settings of the HTTP client. Its `authorization` is needed: it holds the token of the bot.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text in Markdown; it may be a template. Unset means the template `webex.default.message`.
	//
	// +optional
	Message *string `json:"message,omitempty"`

	// ID of the room.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	RoomID string `json:"roomID"`

	// Whether a notification is sent when alerts are resolved. Unset means true.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`
}

// WeChatConfig sends a message of a WeChat Work application. What is empty has the global setting.
type WeChatConfig struct {
	// ID of the application; it may be a template. Empty means the template `wechat.default.agent_id`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	AgentID string `json:"agentID,omitempty"`

	// Secret key with the secret of the application. Unset means the global one.
	//
	// +optional
	APISecret *corev1.SecretKeySelector `json:"apiSecret,omitempty"`

	// URL of the API, http or https with a host. Empty means the global one,
	// `https://qyapi.weixin.qq.com/cgi-bin/` by default.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// ID of the corporation. Empty means the global one.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	CorpID string `json:"corpID,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Text of the message; it may be a template. Empty means the template `wechat.default.message`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Message string `json:"message,omitempty"`

	// Format of the message, `text` or `markdown`. Empty means `text`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MessageType string `json:"messageType,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means false.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// IDs of departments to send to, separated by `|`; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ToParty string `json:"toParty,omitempty"`

	// IDs of tags to send to, separated by `|`; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ToTag string `json:"toTag,omitempty"`

	// IDs of users to send to, separated by `|`; it may be a template. `@all` is all users.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ToUser string `json:"toUser,omitempty"`
}
