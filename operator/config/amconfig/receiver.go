package amconfig

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Receiver is one item of receivers. A kind of integration that the version does not
// know rejects the object: without it alerts would get lost.
//
// reject: the field as the user wrote it; where the version is below since, the object
// is rejected instead of losing the key.
type Receiver struct {
	// Name that routes refer to.
	Name string `yaml:"name"`
	// OpsGenie alerts.
	OpsGenie []OpsGenie `yaml:"opsgenie_configs,omitempty"`
	// PagerDuty incidents.
	PagerDuty []PagerDuty `yaml:"pagerduty_configs,omitempty"`
	// Discord messages.
	Discord []Discord `yaml:"discord_configs,omitempty" since:"alertmanager=0.25.0" reject:"discordConfigs"`
	// Slack messages.
	Slack []Slack `yaml:"slack_configs,omitempty"`
	// Webhook requests.
	Webhook []Webhook `yaml:"webhook_configs,omitempty"`
	// WeChat messages.
	WeChat []WeChat `yaml:"wechat_configs,omitempty"`
	// Email messages.
	Email []Email `yaml:"email_configs,omitempty"`
	// VictorOps incidents.
	VictorOps []VictorOps `yaml:"victorops_configs,omitempty"`
	// Pushover notices.
	Pushover []Pushover `yaml:"pushover_configs,omitempty"`
	// SNS messages.
	SNS []SNS `yaml:"sns_configs,omitempty" since:"alertmanager=0.23.0" reject:"snsConfigs"`
	// Telegram messages.
	Telegram []Telegram `yaml:"telegram_configs,omitempty" since:"alertmanager=0.24.0" reject:"telegramConfigs"`
	// Webex messages.
	Webex []Webex `yaml:"webex_configs,omitempty" since:"alertmanager=0.25.0" reject:"webexConfigs"`
	// MSTeams messages through connectors.
	MSTeams []MSTeams `yaml:"msteams_configs,omitempty" since:"alertmanager=0.26.0" reject:"msteamsConfigs"`
	// MSTeamsV2 messages through workflows.
	MSTeamsV2 []MSTeamsV2 `yaml:"msteamsv2_configs,omitempty" since:"alertmanager=0.28.0" reject:"msteamsv2Configs"`
	// RocketChat messages.
	RocketChat []RocketChat `yaml:"rocketchat_configs,omitempty" since:"alertmanager=0.28.0" reject:"rocketchatConfigs"`
}

// integrations lists the kinds of integrations in the order in which they are checked.
// A new one needs: a file, a list in [Receiver], a row, a golden file.
var integrations = []integration{
	lists("opsgenieConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.OpsGenieConfig, *[]OpsGenie) {
		return in.OpsGenieConfigs, &out.OpsGenie
	}, checkOpsGenie, (*compiler).opsGenie),
	lists("pagerdutyConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.PagerDutyConfig, *[]PagerDuty) {
		return in.PagerDutyConfigs, &out.PagerDuty
	}, checkPagerDuty, (*compiler).pagerDuty),
	lists("discordConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.DiscordConfig, *[]Discord) {
		return in.DiscordConfigs, &out.Discord
	}, checkDiscord, (*compiler).discord),
	lists("slackConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.SlackConfig, *[]Slack) {
		return in.SlackConfigs, &out.Slack
	}, checkSlack, (*compiler).slack),
	lists("webhookConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.WebhookConfig, *[]Webhook) {
		return in.WebhookConfigs, &out.Webhook
	}, checkWebhook, (*compiler).webhook),
	lists("wechatConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.WeChatConfig, *[]WeChat) {
		return in.WeChatConfigs, &out.WeChat
	}, checkWeChat, (*compiler).weChat),
	lists("emailConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.EmailConfig, *[]Email) {
		return in.EmailConfigs, &out.Email
	}, checkEmail, (*compiler).email),
	lists("victoropsConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.VictorOpsConfig, *[]VictorOps) {
		return in.VictorOpsConfigs, &out.VictorOps
	}, checkVictorOps, (*compiler).victorOps),
	lists("pushoverConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.PushoverConfig, *[]Pushover) {
		return in.PushoverConfigs, &out.Pushover
	}, checkPushover, (*compiler).pushover),
	lists("snsConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.SNSConfig, *[]SNS) {
		return in.SNSConfigs, &out.SNS
	}, checkSNS, (*compiler).sns),
	lists("telegramConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.TelegramConfig, *[]Telegram) {
		return in.TelegramConfigs, &out.Telegram
	}, checkTelegram, (*compiler).telegram),
	lists("webexConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.WebexConfig, *[]Webex) {
		return in.WebexConfigs, &out.Webex
	}, checkWebex, (*compiler).webex),
	lists("msteamsConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.MSTeamsConfig, *[]MSTeams) {
		return in.MSTeamsConfigs, &out.MSTeams
	}, checkMSTeams, (*compiler).msTeams),
	lists("msteamsv2Configs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.MSTeamsV2Config, *[]MSTeamsV2) {
		return in.MSTeamsV2Configs, &out.MSTeamsV2
	}, checkMSTeamsV2, (*compiler).msTeamsV2),
	lists("rocketchatConfigs", func(in *v1alpha1.Receiver, out *Receiver) ([]v1alpha1.RocketChatConfig, *[]RocketChat) {
		return in.RocketChatConfigs, &out.RocketChat
	}, checkRocketChat, (*compiler).rocketChat),
}

// integration is one kind of integrations of a receiver.
type integration struct {
	check func(*v1alpha1.Receiver) error
	read  func(*compiler, *v1alpha1.Receiver, *Receiver) error
}

// lists makes the row of a kind.
//
// field: the list as the user wrote it. pick: the two ends. check: what needs neither
// version nor Secrets. convert: an entry that passed check; nothing else is asked of it
// but the version of keys with a reject tag.
func lists[In, Out any](
	field string, pick func(*v1alpha1.Receiver, *Receiver) ([]In, *[]Out),
	check func(*In) error, convert func(*compiler, *In) (Out, error),
) integration {
	each := func(in []In, do func(*In) error) error {
		for i := range in {
			if err := do(&in[i]); err != nil {
				return at(fmt.Sprintf("%s[%d]", field, i), err)
			}
		}
		return nil
	}
	return integration{
		check: func(r *v1alpha1.Receiver) error {
			in, _ := pick(r, &Receiver{})
			return each(in, check)
		},
		read: func(c *compiler, r *v1alpha1.Receiver, to *Receiver) error {
			in, out := pick(r, to)
			return each(in, func(entry *In) error {
				converted, err := convert(c, entry)
				if err != nil {
					return err
				}
				*out = append(*out, converted)
				return first(c.Known(&converted), c.count(&converted))
			})
		},
	}
}

// checkReceiver is the part of the checks that needs neither version nor Secrets. Errors
// start with the path below the receiver: "slackConfigs[0].actions[1].text: …".
func checkReceiver(in *v1alpha1.Receiver) error {
	for _, kind := range integrations {
		if err := kind.check(in); err != nil {
			return err
		}
	}
	return nil
}

// receiver converts a receiver that has passed checkReceiver, and checks what depends on
// the version, on Secrets and on what the base gives (c.globals). The name is that of the
// object; the caller prefixes it. Errors are as those of checkReceiver.
func (c *compiler) receiver(in *v1alpha1.Receiver) (Receiver, error) {
	out := Receiver{Name: in.Name}
	for _, kind := range integrations {
		if err := kind.read(c, in, &out); err != nil {
			return Receiver{}, err
		}
	}
	return out, c.Known(&out)
}

// Notifier are the keys that every integration has which sends by HTTP.
type Notifier struct {
	// SendResolved notifies when alerts are resolved, too.
	SendResolved *bool `yaml:"send_resolved,omitempty"`
	// HTTPConfig is used instead of the global one.
	HTTPConfig *HTTPConfig `yaml:"http_config,omitempty"`
}

func (c *compiler) notifier(sendResolved *bool, http *v1alpha1.HTTPConfig) (Notifier, error) {
	client, err := c.http(http)
	return Notifier{SendResolved: sendResolved, HTTPConfig: client}, at("httpConfig", err)
}
