package amconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Receiver is one item of receivers. An integration that the version does not support
// rejects the object, because alerts would be lost without it.
//
// The reject tag is the field name in the object. If the version is below the since tag,
// the object is rejected rather than losing the key.
type Receiver struct {
	// Name is the name that routes refer to.
	Name string `yaml:"name"`
	// OpsGenie creates OpsGenie alerts.
	OpsGenie []OpsGenie `yaml:"opsgenie_configs,omitempty"`
	// PagerDuty creates PagerDuty incidents.
	PagerDuty []PagerDuty `yaml:"pagerduty_configs,omitempty"`
	// Discord sends Discord messages.
	Discord []Discord `yaml:"discord_configs,omitempty" since:"alertmanager=0.25.0" reject:"discordConfigs"`
	// Slack sends Slack messages.
	Slack []Slack `yaml:"slack_configs,omitempty"`
	// Webhook sends HTTP requests.
	Webhook []Webhook `yaml:"webhook_configs,omitempty"`
	// WeChat sends WeChat messages.
	WeChat []WeChat `yaml:"wechat_configs,omitempty"`
	// Email sends emails.
	Email []Email `yaml:"email_configs,omitempty"`
	// VictorOps creates VictorOps incidents.
	VictorOps []VictorOps `yaml:"victorops_configs,omitempty"`
	// Pushover sends Pushover notifications.
	Pushover []Pushover `yaml:"pushover_configs,omitempty"`
	// SNS sends SNS messages.
	SNS []SNS `yaml:"sns_configs,omitempty" since:"alertmanager=0.23.0" reject:"snsConfigs"`
	// Telegram sends Telegram messages.
	Telegram []Telegram `yaml:"telegram_configs,omitempty" since:"alertmanager=0.24.0" reject:"telegramConfigs"`
	// Webex sends Webex messages.
	Webex []Webex `yaml:"webex_configs,omitempty" since:"alertmanager=0.25.0" reject:"webexConfigs"`
	// MSTeams sends Microsoft Teams messages through connectors.
	MSTeams []MSTeams `yaml:"msteams_configs,omitempty" since:"alertmanager=0.26.0" reject:"msteamsConfigs"`
	// MSTeamsV2 sends Microsoft Teams messages through workflows.
	MSTeamsV2 []MSTeamsV2 `yaml:"msteamsv2_configs,omitempty" since:"alertmanager=0.28.0" reject:"msteamsv2Configs"`
	// RocketChat sends Rocket.Chat messages.
	RocketChat []RocketChat `yaml:"rocketchat_configs,omitempty" since:"alertmanager=0.28.0" reject:"rocketchatConfigs"`
}

// integrations lists the kinds of integrations in the order of the checks. To add one,
// add a file, a list in [Receiver], a row here and a golden file.
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

// integration is one kind of integration of a receiver.
type integration struct {
	check func(*v1alpha1.Receiver) error
	read  func(*compiler, *v1alpha1.Receiver, *Receiver) error
}

// lists returns the row for a kind.
//
// field: the list in the object. pick: returns the lists to read and to fill. check: the
// rules that depend neither on the version nor on Secrets. convert: converts an entry that
// passed check; apart from it, only the version of keys with a reject tag is checked.
func lists[In, Out any](
	field string, pick func(*v1alpha1.Receiver, *Receiver) ([]In, *[]Out),
	check func(*In) error, convert func(*compiler, *In) (Out, error),
) integration {
	return integration{
		check: func(r *v1alpha1.Receiver) error {
			in, _ := pick(r, &Receiver{})
			return faults.Each(field, in, check)
		},
		read: func(c *compiler, r *v1alpha1.Receiver, to *Receiver) error {
			in, out := pick(r, to)
			return faults.Each(field, in, func(entry *In) error {
				converted, err := convert(c, entry)
				if err != nil {
					return err
				}
				*out = append(*out, converted)
				return errors.Join(c.Known(&converted), c.count(&converted))
			})
		},
	}
}

// checkReceiver checks the rules that depend neither on the version nor on Secrets.
// Errors, joined, start with the path below the receiver: "slackConfigs[0].actions[1].text: ...".
func checkReceiver(in *v1alpha1.Receiver) error {
	var errs faults.List
	for _, kind := range integrations {
		errs.Add("", kind.check(in))
	}
	return errs.Err()
}

// receiver converts a receiver that passed checkReceiver, and checks the rules that
// depend on the version, on Secrets and on the base (c.globals). It keeps the name of the
// object; the caller adds the prefix. Errors are like those of checkReceiver.
func (c *compiler) receiver(in *v1alpha1.Receiver) (Receiver, error) {
	out, errs := Receiver{Name: in.Name}, faults.List{}
	for _, kind := range integrations {
		if errs.Full() {
			break
		}
		errs.Add("", kind.read(c, in, &out))
	}
	if errs.Any() {
		return Receiver{}, errs.Err()
	}
	return out, c.Known(&out)
}

// Notifier holds the common keys of integrations that use HTTP.
type Notifier struct {
	// SendResolved also sends notifications about resolved alerts.
	SendResolved *bool `yaml:"send_resolved,omitempty"`
	// HTTPConfig overrides the global one.
	HTTPConfig *HTTPConfig `yaml:"http_config,omitempty"`
}

func (c *compiler) notifier(sendResolved *bool, http *v1alpha1.HTTPConfig) (Notifier, error) {
	client, err := c.http(http)
	return Notifier{SendResolved: sendResolved, HTTPConfig: client}, faults.At("httpConfig", err)
}
