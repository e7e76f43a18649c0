package v1alpha1

// Receiver holds settings.
type Receiver struct {
	// DiscordConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	DiscordConfigs []DiscordConfig `json:"discordConfigs,omitempty"`

	// EmailConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	EmailConfigs []EmailConfig `json:"emailConfigs,omitempty"`

	// MSTeamsConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	MSTeamsConfigs []MSTeamsConfig `json:"msteamsConfigs,omitempty"`

	// MSTeamsV2Configs is a setting.
	//
	// +listType=atomic
	// +optional
	MSTeamsV2Configs []MSTeamsV2Config `json:"msteamsv2Configs,omitempty"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// OpsGenieConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	OpsGenieConfigs []OpsGenieConfig `json:"opsgenieConfigs,omitempty"`

	// PagerDutyConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	PagerDutyConfigs []PagerDutyConfig `json:"pagerdutyConfigs,omitempty"`

	// PushoverConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	PushoverConfigs []PushoverConfig `json:"pushoverConfigs,omitempty"`

	// RocketChatConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	RocketChatConfigs []RocketChatConfig `json:"rocketchatConfigs,omitempty"`

	// SlackConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	SlackConfigs []SlackConfig `json:"slackConfigs,omitempty"`

	// SNSConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	SNSConfigs []SNSConfig `json:"snsConfigs,omitempty"`

	// TelegramConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	TelegramConfigs []TelegramConfig `json:"telegramConfigs,omitempty"`

	// VictorOpsConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	VictorOpsConfigs []VictorOpsConfig `json:"victoropsConfigs,omitempty"`

	// WebexConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	WebexConfigs []WebexConfig `json:"webexConfigs,omitempty"`

	// WebhookConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	WebhookConfigs []WebhookConfig `json:"webhookConfigs,omitempty"`

	// WeChatConfigs is a setting.
	//
	// +listType=atomic
	// +optional
	WeChatConfigs []WeChatConfig `json:"wechatConfigs,omitempty"`
}
