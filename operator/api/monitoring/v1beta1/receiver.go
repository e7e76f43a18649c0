package v1beta1

// Receiver is a named set of ways to send notifications; all of them are used. One without any drops what it
// receives.
type Receiver struct {
	// Messages to Discord (since Alertmanager 0.25.0).
	//
	// +optional
	DiscordConfigs []DiscordConfig `json:"discordConfigs,omitempty"`

	// Emails.
	//
	// +optional
	EmailConfigs []EmailConfig `json:"emailConfigs,omitempty"`

	// Messages to Microsoft Teams by connectors (since Alertmanager 0.26.0).
	//
	// +optional
	MSTeamsConfigs []MSTeamsConfig `json:"msteamsConfigs,omitempty"`

	// Messages to Microsoft Teams by workflows (since Alertmanager 0.28.0).
	//
	// +optional
	MSTeamsV2Configs []MSTeamsV2Config `json:"msteamsv2Configs,omitempty"`

	// Name that routes refer to, unique in the object. Others see it as `<namespace>/<object>/<name>`.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Alerts in OpsGenie.
	//
	// +optional
	OpsGenieConfigs []OpsGenieConfig `json:"opsgenieConfigs,omitempty"`

	// Incidents in PagerDuty.
	//
	// +optional
	PagerDutyConfigs []PagerDutyConfig `json:"pagerdutyConfigs,omitempty"`

	// Messages by Pushover.
	//
	// +optional
	PushoverConfigs []PushoverConfig `json:"pushoverConfigs,omitempty"`

	// Messages to Rocket.Chat (since Alertmanager 0.28.0).
	//
	// +optional
	RocketChatConfigs []RocketChatConfig `json:"rocketchatConfigs,omitempty"`

	// Messages to Slack.
	//
	// +optional
	SlackConfigs []SlackConfig `json:"slackConfigs,omitempty"`

	// Messages to AWS SNS.
	//
	// +optional
	SNSConfigs []SNSConfig `json:"snsConfigs,omitempty"`

	// Messages to Telegram (since Alertmanager 0.24.0).
	//
	// +optional
	TelegramConfigs []TelegramConfig `json:"telegramConfigs,omitempty"`

	// Incidents in VictorOps.
	//
	// +optional
	VictorOpsConfigs []VictorOpsConfig `json:"victoropsConfigs,omitempty"`

	// Messages to Webex (since Alertmanager 0.25.0).
	//
	// +optional
	WebexConfigs []WebexConfig `json:"webexConfigs,omitempty"`

	// Requests to a webhook.
	//
	// +optional
	WebhookConfigs []WebhookConfig `json:"webhookConfigs,omitempty"`

	// Messages to WeChat.
	//
	// +optional
	WeChatConfigs []WeChatConfig `json:"wechatConfigs,omitempty"`
}
