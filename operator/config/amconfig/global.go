package amconfig

import (
	"cmp"
	"errors"
	"net"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// Global is the global section generated from spec.alertmanagerConfiguration.global.
//
// The reject tag is as in [Receiver], but the error fails the entire Alertmanager.
type Global struct {
	// ResolveTimeout is the time after which an alert that is no longer sent is resolved.
	ResolveTimeout string `yaml:"resolve_timeout,omitempty"`
	// HTTPConfig is the default for receivers.
	HTTPConfig *HTTPConfig `yaml:"http_config,omitempty"`
	// GlobalSMTP holds the defaults for email receivers.
	GlobalSMTP `yaml:",inline"`
	// SlackAPIURL is the default for Slack receivers.
	SlackAPIURL string `yaml:"slack_api_url,omitempty"`
	// OpsGenieAPIURL is the default for OpsGenie receivers.
	OpsGenieAPIURL string `yaml:"opsgenie_api_url,omitempty"`
	// OpsGenieAPIKey is the default for OpsGenie receivers.
	OpsGenieAPIKey string `yaml:"opsgenie_api_key,omitempty"`
	// PagerDutyURL is the default for PagerDuty receivers.
	PagerDutyURL string `yaml:"pagerduty_url,omitempty"`
	// TelegramAPIURL is the default for Telegram receivers.
	TelegramAPIURL string `yaml:"telegram_api_url,omitempty" since:"alertmanager=0.24.0" reject:"telegram"`
	// JiraAPIURL is the default for Jira receivers.
	JiraAPIURL string `yaml:"jira_api_url,omitempty" since:"alertmanager=0.28.0" reject:"jira"`
	// RocketChatAPIURL is the default for Rocket.Chat receivers.
	RocketChatAPIURL string `yaml:"rocketchat_api_url,omitempty" since:"alertmanager=0.28.0" reject:"rocketChat"`
	// RocketChatToken is the default for Rocket.Chat receivers.
	RocketChatToken string `yaml:"rocketchat_token,omitempty" since:"alertmanager=0.28.0" reject:"rocketChat"`
	// RocketChatTokenID is the default for Rocket.Chat receivers.
	RocketChatTokenID string `yaml:"rocketchat_token_id,omitempty" since:"alertmanager=0.28.0" reject:"rocketChat"`
	// WebexAPIURL is the default for Webex receivers.
	WebexAPIURL string `yaml:"webex_api_url,omitempty" since:"alertmanager=0.25.0" reject:"webex"`
	// WeChatAPIURL is the default for WeChat receivers.
	WeChatAPIURL string `yaml:"wechat_api_url,omitempty"`
	// WeChatAPISecret is the default for WeChat receivers.
	WeChatAPISecret string `yaml:"wechat_api_secret,omitempty"`
	// WeChatAPICorpID is the default for WeChat receivers.
	WeChatAPICorpID string `yaml:"wechat_api_corp_id,omitempty"`
	// VictorOpsAPIURL is the default for VictorOps receivers.
	VictorOpsAPIURL string `yaml:"victorops_api_url,omitempty"`
	// VictorOpsAPIKey is the default for VictorOps receivers.
	VictorOpsAPIKey string `yaml:"victorops_api_key,omitempty"`
	// MattermostWebhookURL is the default for Mattermost receivers.
	MattermostWebhookURL string `yaml:"mattermost_webhook_url,omitempty" since:"alertmanager=0.32.0" reject:"mattermost"`
}

// GlobalSMTP holds the keys of the mail server.
type GlobalSMTP struct {
	// From is the sender.
	From string `yaml:"smtp_from,omitempty"`
	// Hello is the host name sent to the server.
	Hello string `yaml:"smtp_hello,omitempty"`
	// Smarthost is host:port; an IPv6 address is in brackets.
	Smarthost string `yaml:"smtp_smarthost,omitempty"`
	// AuthUsername for authentication.
	AuthUsername string `yaml:"smtp_auth_username,omitempty"`
	// AuthPassword is used for LOGIN and PLAIN.
	AuthPassword string `yaml:"smtp_auth_password,omitempty"`
	// AuthSecret is used for CRAM-MD5.
	AuthSecret string `yaml:"smtp_auth_secret,omitempty"`
	// AuthIdentity is used for PLAIN.
	AuthIdentity string `yaml:"smtp_auth_identity,omitempty"`
	// RequireTLS rejects connections without TLS.
	RequireTLS *bool `yaml:"smtp_require_tls,omitempty"`
	// TLSConfig is used for connections to the mail server.
	TLSConfig *clientconfig.TLSConfig `yaml:"smtp_tls_config,omitempty" since:"alertmanager=0.28.0"`
	// ForceImplicitTLS starts connections with TLS.
	ForceImplicitTLS *bool `yaml:"smtp_force_implicit_tls,omitempty" since:"alertmanager=0.31.0" reject:"smtp.forceImplicitTLS"`
}

// global validates and converts the global settings of a base; nil stays nil. Errors
// start with the path below alertmanagerConfiguration.global: "smtp.tlsConfig.ca: ...".
func (c *compiler) global(in *v1.AlertmanagerGlobalConfig) (*Global, error) {
	if in == nil {
		return nil, nil
	}
	out := &Global{}
	for _, read := range []func(*compiler, *v1.AlertmanagerGlobalConfig, *Global) error{
		(*compiler).globalClient, (*compiler).globalSMTP, (*compiler).globalURLs, (*compiler).globalSecrets,
	} {
		if err := read(c, in, out); err != nil {
			return nil, err
		}
	}
	return out, errors.Join(c.Known(out), c.Known(&out.GlobalSMTP))
}

func (c *compiler) globalClient(in *v1.AlertmanagerGlobalConfig, out *Global) (err error) {
	if in.ResolveTimeout != "" {
		if err := checkDuration("resolveTimeout", in.ResolveTimeout); err != nil {
			return err
		}
		timeout, _ := model.ParseDuration(string(in.ResolveTimeout))
		out.ResolveTimeout = c.promDuration(timeout)
	}
	if in.HTTPConfig == nil {
		return nil
	}
	if err := checkHTTPClient(in.HTTPConfig); err != nil {
		return faults.At("httpConfig", err)
	}
	out.HTTPConfig, err = c.httpClient(in.HTTPConfig)
	return faults.At("httpConfig", err)
}

func (c *compiler) globalSMTP(in *v1.AlertmanagerGlobalConfig, out *Global) (err error) {
	smtp := in.SMTPConfig
	if smtp == nil {
		return nil
	}
	out.GlobalSMTP = GlobalSMTP{
		From: smtp.From, Hello: smtp.Hello, AuthUsername: smtp.AuthUsername, AuthIdentity: smtp.AuthIdentity,
		RequireTLS: smtp.RequireTLS, ForceImplicitTLS: smtp.ForceImplicitTLS,
	}
	if host := smtp.SmartHost; host != nil {
		out.Smarthost = net.JoinHostPort(host.Host, host.Port)
		if err := cmp.Or(
			checkNotEmpty("smtp.smartHost.host", host.Host), checkNotEmpty("smtp.smartHost.port", host.Port),
			checkHostPort("smtp.smartHost", out.Smarthost),
		); err != nil {
			return err
		}
	}
	if out.AuthPassword, err = c.value("smtp.authPassword", smtp.AuthPassword); err != nil {
		return err
	}
	if out.AuthSecret, err = c.value("smtp.authSecret", smtp.AuthSecret); err != nil {
		return err
	}
	out.TLSConfig, err = c.tls("smtp.tlsConfig", smtp.TLSConfig)
	return err
}

// globalURLs validates and copies the URLs in the object.
func (c *compiler) globalURLs(in *v1.AlertmanagerGlobalConfig, out *Global) error {
	type row struct {
		field, url string
		to         *string
	}
	rows := []row{{"pagerdutyUrl", in.PagerDutyURL, &out.PagerDutyURL}}
	if t := in.TelegramConfig; t != nil {
		rows = append(rows, row{"telegram.apiURL", t.APIURL, &out.TelegramAPIURL})
	}
	if j := in.JiraConfig; j != nil {
		rows = append(rows, row{"jira.apiURL", j.APIURL, &out.JiraAPIURL})
	}
	if r := in.RocketChatConfig; r != nil {
		rows = append(rows, row{"rocketChat.apiURL", r.APIURL, &out.RocketChatAPIURL})
	}
	if w := in.WebexConfig; w != nil {
		rows = append(rows, row{"webex.apiURL", w.APIURL, &out.WebexAPIURL})
	}
	if w := in.WeChatConfig; w != nil {
		rows = append(rows, row{"wechat.apiURL", w.APIURL, &out.WeChatAPIURL})
		out.WeChatAPICorpID = w.APICorpID
	}
	if v := in.VictorOpsConfig; v != nil {
		rows = append(rows, row{"victorops.apiURL", v.APIURL, &out.VictorOpsAPIURL})
	}
	for _, r := range rows {
		if err := checkOptionalURL(r.field, r.url); err != nil {
			return err
		}
		*r.to = r.url
	}
	return nil
}
