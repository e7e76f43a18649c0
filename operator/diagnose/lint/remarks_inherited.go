package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// credentialsOfAll are the credentials in the global settings of an Alertmanager: which they are, as the user writes them; empty
// if they are not set.
type credentialsOfAll struct {
	smtp, opsGenie, victorOps, weChat, http string

	user      bool   // a user name for smtp
	smarthost string // of smtp
}

// globalCredentials returns the credentials in the global settings of an Alertmanager, and the field with these settings.
func (l *linter) globalCredentials(am *v1.Alertmanager) (out credentialsOfAll, field string) {
	if base := am.Spec.AlertmanagerConfiguration; base != nil {
		return credentialsOfField(base.Global), "spec.alertmanagerConfiguration.global"
	}
	ref := assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: am.ConfigSecretName()}
	secret, err := l.objects.References.Object(ref)
	root := l.configurationOf(ref, secret)
	if err != nil || root == nil {
		return out, ""
	}
	return credentialsOfFile(root), "spec.configSecret"
}

func credentialsOfField(g *v1.AlertmanagerGlobalConfig) (out credentialsOfAll) {
	if g == nil {
		return out
	}
	if s := g.SMTPConfig; s != nil {
		out.user = s.AuthUsername != ""
		if s.AuthPassword != nil {
			out.smtp = "smtp.authPassword"
		}
		if s.SmartHost != nil {
			out.smarthost = s.SmartHost.Host + ":" + s.SmartHost.Port
		}
	}
	if g.OpsGenieAPIKey != nil {
		out.opsGenie = "opsGenieApiKey"
	}
	if g.VictorOpsConfig != nil && g.VictorOpsConfig.APIKey != nil {
		out.victorOps = "victorops.apiKey"
	}
	if g.WeChatConfig != nil && g.WeChatConfig.APISecret != nil {
		out.weChat = "wechat.apiSecret"
	}
	if h := g.HTTPConfig; h != nil && (h.Authorization != nil || h.BasicAuth != nil || h.OAuth2 != nil) {
		out.http = "httpConfig"
	}
	return out
}

func credentialsOfFile(root *yaml.Node) (out credentialsOfAll) {
	text := func(path ...string) string {
		if n := find(root, append([]string{"global"}, path...)); n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			return n.Value
		}
		return ""
	}
	for _, c := range []struct {
		into *string
		keys []string
	}{
		{&out.smtp, []string{"smtp_auth_password", "smtp_auth_password_file"}},
		{&out.opsGenie, []string{"opsgenie_api_key", "opsgenie_api_key_file"}},
		{&out.victorOps, []string{"victorops_api_key", "victorops_api_key_file"}},
		{&out.weChat, []string{"wechat_api_secret", "wechat_api_secret_file"}},
	} {
		for _, key := range c.keys {
			if text(key) != "" {
				*c.into = "global." + key
			}
		}
	}
	out.user, out.smarthost = text("smtp_auth_username") != "", text("smtp_smarthost")
	for _, key := range []string{"authorization", "basic_auth", "oauth2", "bearer_token", "bearer_token_file"} {
		if n := find(root, []string{"global", "http_config", key}); n != nil && (n.Kind == yaml.MappingNode || n.Value != "" && n.Tag != "!!null") {
			out.http = cmp.Or(out.http, "global.http_config."+key)
		}
	}
	return out
}

// taken returns the credentials, without those that are not set, which the receivers of an AlertmanagerConfig send to a server
// that they name themselves, each with the field of the first receiver.
func (c *credentialsOfAll) taken(all []v1alpha1.Receiver) map[string]string {
	out := map[string]string{}
	for i := range all {
		send := func(credential, list string, j int, own bool) {
			if credential != "" && own && out[credential] == "" {
				out[credential] = fmt.Sprintf("spec.receivers[%d].%s[%d]", i, list, j)
			}
		}
		r := &all[i]
		for j, to := range r.EmailConfigs {
			send(c.smtp, "emailConfigs", j, to.Smarthost != "" && to.Smarthost != c.smarthost && to.AuthPassword == nil && (c.user || to.AuthUsername != ""))
		}
		for j, to := range r.OpsGenieConfigs {
			send(c.opsGenie, "opsgenieConfigs", j, to.APIURL != "" && to.APIKey == nil)
		}
		for j, to := range r.VictorOpsConfigs {
			send(c.victorOps, "victoropsConfigs", j, to.APIURL != "" && to.APIKey == nil)
		}
		for j, to := range r.WeChatConfigs {
			send(c.weChat, "wechatConfigs", j, to.APIURL != "" && to.APISecret == nil)
		}
		for j, to := range r.WebhookConfigs {
			send(c.http, "webhookConfigs", j, to.HTTPConfig == nil)
		}
	}
	return out
}

// inheritedCredentials reports credentials in the global settings of an Alertmanager that receivers of other namespaces send to
// servers of their own, once for each.
func (l *linter) inheritedCredentials(self Finding, w dryrun.Workload, selected []fragments.Result) {
	am, is := w.Object.(*v1.Alertmanager)
	if !is {
		return
	}
	found, field := l.globalCredentials(am)
	if found == (credentialsOfAll{user: found.user, smarthost: found.smarthost}) {
		return
	}
	reported := map[string]bool{}
	for _, v := range selected {
		c, is := v.Object.(*v1alpha1.AlertmanagerConfig)
		if !is || v.Err != nil || c.Namespace == am.Namespace {
			continue
		}
		taken := found.taken(c.Spec.Receivers)
		for _, credential := range slices.Sorted(maps.Keys(taken)) {
			if reported[credential] {
				continue
			}
			reported[credential] = true
			l.say(self)(field, "%s is sent to a server that %s %s/%s names, as %s has none of its own: whoever may write there can read it; write it into the receivers that need it, and not into the global settings",
				credential, catalog.AlertmanagerConfig.Kind, c.Namespace, c.Name, taken[credential])
		}
	}
}
