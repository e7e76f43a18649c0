package amconfig

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// globalSecret is a key of the global section whose value is in a Secret.
type globalSecret struct {
	field string
	sel   *corev1.SecretKeySelector
	isURL bool
	to    *string
}

// globalSecrets resolves the keys in Secrets, except those of the mail server.
func (c *compiler) globalSecrets(in *v1.AlertmanagerGlobalConfig, out *Global) (err error) {
	rows := []globalSecret{
		{"slackApiUrl", in.SlackAPIURL, true, &out.SlackAPIURL},
		{"opsGenieApiUrl", in.OpsGenieAPIURL, true, &out.OpsGenieAPIURL},
		{"opsGenieApiKey", in.OpsGenieAPIKey, false, &out.OpsGenieAPIKey},
	}
	if r := in.RocketChatConfig; r != nil {
		rows = append(rows,
			globalSecret{"rocketChat.token", r.Token, false, &out.RocketChatToken},
			globalSecret{"rocketChat.tokenID", r.TokenID, false, &out.RocketChatTokenID})
	}
	if w := in.WeChatConfig; w != nil {
		rows = append(rows, globalSecret{"wechat.apiSecret", w.APISecret, false, &out.WeChatAPISecret})
	}
	if v := in.VictorOpsConfig; v != nil {
		rows = append(rows, globalSecret{"victorops.apiKey", v.APIKey, false, &out.VictorOpsAPIKey})
	}
	if m := in.MattermostConfig; m != nil {
		rows = append(rows, globalSecret{"mattermost.webhookURL", m.WebhookURL, true, &out.MattermostWebhookURL})
	}
	for _, r := range rows {
		switch {
		case r.sel == nil:
		case r.isURL:
			*r.to, err = c.secretURL(r.field, *r.sel)
		default:
			*r.to, err = c.value(r.field, r.sel)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// provides returns which settings receivers may omit; nil provides none.
func (g *Global) provides() Globals {
	if g == nil {
		return Globals{}
	}
	return Globals{
		SMTPFrom: g.From != "", SMTPSmarthost: g.Smarthost != "", SlackURL: g.SlackAPIURL != "", OpsGenieKey: g.OpsGenieAPIKey != "",
		VictorOpsKey: g.VictorOpsAPIKey != "", WeChatSecret: g.WeChatAPISecret != "", WeChatCorpID: g.WeChatAPICorpID != "",
		MattermostURL: g.MattermostWebhookURL != "", RocketChatToken: g.RocketChatToken != "",
		RocketChatTokenID: g.RocketChatTokenID != "", Jira: g.JiraAPIURL != "",
		HTTPAuthorization: g.HTTPConfig.authenticates(),
	}
}
