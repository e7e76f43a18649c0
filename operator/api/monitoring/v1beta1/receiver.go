package v1beta1

// Receiver holds settings.
type Receiver struct {
	// DiscordConfigs is a setting.
	//
	// +optional
	DiscordConfigs []DiscordConfig `json:"discordConfigs,omitempty"`

	// EmailConfigs is a setting.
	//
	// +optional
	EmailConfigs []EmailConfig `json:"emailConfigs,omitempty"`

	// MSTeamsConfigs is a setting.
	//
	// +optional
	MSTeamsConfigs []MSTeamsConfig `json:"msteamsConfigs,omitempty"`

	// MSTeamsV2Configs is a setting.
	//
	// +optional
	MSTeamsV2Configs []MSTeamsV2Config `json:"msteamsv2Configs,omitempty"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// OpsGenieConfigs is a setting.
	//
	// +optional
	OpsGenieConfigs []OpsGenieConfig `json:"opsgenieConfigs,omitempty"`

	// PagerDutyConfigs is a setting.
	//
	// +optional
	PagerDutyConfigs []PagerDutyConfig `json:"pagerdutyConfigs,omitempty"`

	// PushoverConfigs is a setting.
	//
	// +optional
	PushoverConfigs []PushoverConfig `json:"pushoverConfigs,omitempty"`

	// RocketChatConfigs is a setting.
	//
	// +optional
	RocketChatConfigs []RocketChatConfig `json:"rocketchatConfigs,omitempty"`

	// SlackConfigs is a setting.
	//
	// +optional
	SlackConfigs []SlackConfig `json:"slackConfigs,omitempty"`

	// SNSConfigs is a setting.
	//
	// +optional
	SNSConfigs []SNSConfig `json:"snsConfigs,omitempty"`

	// TelegramConfigs is a setting.
	//
	// +optional
	TelegramConfigs []TelegramConfig `json:"telegramConfigs,omitempty"`

	// VictorOpsConfigs is a setting.
	//
	// +optional
	VictorOpsConfigs []VictorOpsConfig `json:"victoropsConfigs,omitempty"`

	// WebexConfigs is a setting.
	//
	// +optional
	WebexConfigs []WebexConfig `json:"webexConfigs,omitempty"`

	// WebhookConfigs is a setting.
	//
	// +optional
	WebhookConfigs []WebhookConfig `json:"webhookConfigs,omitempty"`

	// WeChatConfigs is a setting.
	//
	// +optional
	WeChatConfigs []WeChatConfig `json:"wechatConfigs,omitempty"`
}
