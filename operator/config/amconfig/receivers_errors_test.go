package amconfig

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

const (
	// secretText is part of every nonempty value of the Secret, and no error may contain it.
	secretText = "hunter2"
	notURL     = "is not an http or https URL with a host"
)

// secretInput has one Secret "s".
func secretInput() *goldenInput {
	w := &goldenInput{}
	w.objects.AddSecret(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"},
		StringData: map[string]string{
			"key": secretText, "empty": "", "blank": " \n",
			"url": "https://hook.example/" + secretText, "ftp": "ftp://hook.example/" + secretText, "host": "hook.example/" + secretText,
			"quoted": `https://hook.example/"` + secretText, "control": "https://hook.example/" + secretText + "\nx",
			"template": "{{ ." + secretText, "function": "https://hook.example/{{ " + secretText + " .x }}",
			"slack": chatPostMessage, "long": strings.Repeat("{{ if .x }}", 1500) + secretText,
		},
	})
	return w
}

func decodeReceiver(t *testing.T, text string) *v1alpha1.Receiver {
	t.Helper()
	r := &v1alpha1.Receiver{Name: "test"}
	if err := kyaml.UnmarshalStrict([]byte(text), r); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// TestCheckReceiver: invalid receivers are rejected without version and Secrets.
func TestCheckReceiver(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`opsgenieConfigs: [{responders: [{type: team}]}]`, "opsgenieConfigs[0].responders[0]: one of id, name and username is needed"},
		{`opsgenieConfigs: [{responders: [{type: team}, {id: a, type: group}], apiURL: a}]`, `opsgenieConfigs[0].responders[0]: one of id, name and username is needed
opsgenieConfigs[0].responders[1].type: "group" is none of team, teams, user, escalation, schedule
opsgenieConfigs[0].apiURL: ` + notURL},
		{`opsgenieConfigs: [{responders: [{id: a, type: group}]}]`, `opsgenieConfigs[0].responders[0].type: "group" is none of team, teams, user, escalation, schedule`},
		{`opsgenieConfigs: [{responders: [{id: a, type: "{{ .x"}]}]`, "opsgenieConfigs[0].responders[0].type: is not a valid template"},
		{`opsgenieConfigs: [{responders: [{id: a, type: "{{ toUpper .x }}"}]}]`, "opsgenieConfigs[0].responders[0].type: is not a valid template"},
		{`opsgenieConfigs: [{}, {apiURL: example.com}]`, "opsgenieConfigs[1].apiURL: " + notURL},

		{`pagerdutyConfigs: [{}]`, "pagerdutyConfigs[0]: one of routingKey and serviceKey is needed"},
		{`pagerdutyConfigs: [{routingKey: {key: k}, url: "ftp://a"}]`, "pagerdutyConfigs[0].url: " + notURL},
		{`pagerdutyConfigs: [{routingKey: {key: k}, clientURL: "https://"}]`, "pagerdutyConfigs[0].clientURL: " + notURL},
		{`pagerdutyConfigs: [{routingKey: {key: k}, clientURL: "{{ .labels.url"}]`, "pagerdutyConfigs[0].clientURL: is not a valid template"},
		{`pagerdutyConfigs: [{routingKey: {key: k}, pagerDutyImageConfigs: [{}, {href: "://foo"}]}]`, "pagerdutyConfigs[0].pagerDutyImageConfigs[1].href: " + notURL},
		{`pagerdutyConfigs: [{routingKey: {key: k}, pagerDutyLinkConfigs: [{href: example.com}]}]`, "pagerdutyConfigs[0].pagerDutyLinkConfigs[0].href: " + notURL},
		{`pagerdutyConfigs: [{routingKey: {key: k}, timeout: 1.5h}]`, `pagerdutyConfigs[0].timeout: "1.5h" is not a duration`},

		{`slackConfigs: [{actions: [{text: a, url: b}]}]`, "slackConfigs[0].actions[0].type: is empty"},
		{`slackConfigs: [{actions: [{type: a, text: b, name: c}, {type: button, url: b}]}]`, "slackConfigs[0].actions[1].text: is empty"},
		{`slackConfigs: [{actions: [{type: button, text: a, url: ""}]}]`, "slackConfigs[0].actions[0]: one of url and name is needed"},
		{`slackConfigs: [{actions: [{type: button, text: a, name: b, confirm: {title: a}}]}]`, "slackConfigs[0].actions[0].confirm.text: is empty"},
		{`slackConfigs: [{fields: [{value: a}]}]`, "slackConfigs[0].fields[0].title: is empty"},
		{`slackConfigs: [{fields: [{title: a}]}]`, "slackConfigs[0].fields[0].value: is empty"},
		{`slackConfigs: [{timeout: soon}]`, `slackConfigs[0].timeout: "soon" is not a duration`},

		{`webhookConfigs: [{}]`, "webhookConfigs[0]: one of url and urlSecret is needed"},
		{`webhookConfigs: [{url: ""}]`, "webhookConfigs[0].url: " + notURL},
		{`webhookConfigs: [{url: "https://a\"b"}]`, "webhookConfigs[0].url: " + notURL},
		{`webhookConfigs: [{url: "https:\\/\\/a.example"}]`, "webhookConfigs[0].url: " + notURL},
		{`webhookConfigs: [{url: "https://!^example.com"}]`, "webhookConfigs[0].url: " + notURL},
		{`webhookConfigs: [{url: "tcp://example.com", urlSecret: {key: k}}]`, "webhookConfigs[0].url: " + notURL},
		{`webhookConfigs: [{url: "{{ .labels.url | toUpper }}"}]`, "webhookConfigs[0].url: is not a valid template"},
		{`webhookConfigs: [{url: "https://a", timeout: -1s}]`, `webhookConfigs[0].timeout: "-1s" is not a duration`},

		{`wechatConfigs: [{apiURL: a}]`, "wechatConfigs[0].apiURL: " + notURL},
		{`wechatConfigs: [{messageType: html}]`, `wechatConfigs[0].messageType: "html" is neither text nor markdown`},

		{`emailConfigs: [{from: a}]`, "emailConfigs[0].to: is empty"},
		{`emailConfigs: [{to: a, smarthost: mail.example}]`, `emailConfigs[0].smarthost: "mail.example" is not host:port, such as smtp.example.com:587`},
		{`emailConfigs: [{to: a, smarthost: "mail.example:"}]`, `emailConfigs[0].smarthost: "mail.example:" is not host:port, such as smtp.example.com:587`},
		{`emailConfigs: [{to: a, smarthost: "2001:db8::1"}]`, `emailConfigs[0].smarthost: "2001:db8::1" is not host:port, such as smtp.example.com:587`},
		{`emailConfigs: [{to: a, headers: [{key: subject}, {key: ſubject}]}]`, `emailConfigs[0].headers[1].key: "ſubject" occurs twice`}, // for Alertmanager 0.21
		{"emailConfigs: [{to: a, headers: [{key: k}, {key: \u212a}]}]", "emailConfigs[0].headers[1].key: \"\u212a\" occurs twice"},       // the Kelvin sign
		{`emailConfigs: [{to: a, headers: [{key: subject}, {key: SUBJECT}]}]`, `emailConfigs[0].headers[1].key: "SUBJECT" occurs twice`},
		{`emailConfigs: [{to: a, headers: [{key: references}], threading: {threadByDate: Daily}}]`, `emailConfigs[0].headers[0].key: "references" and threading are mutually exclusive: remove one of them`},
		{`emailConfigs: [{to: a, threading: {threadByDate: weekly}}]`, `emailConfigs[0].threading.threadByDate: "weekly" is neither Daily nor None`},
		{`emailConfigs: [{to: a, tlsConfig: {keySecret: {key: k}}}]`, "emailConfigs[0].tlsConfig: a key needs a certificate: set cert"},

		{`victoropsConfigs: [{apiUrl: "https://a"}]`, "victoropsConfigs[0].routingKey: is empty"},
		{`victoropsConfigs: [{routingKey: a, apiUrl: a}]`, "victoropsConfigs[0].apiUrl: " + notURL},
		{`victoropsConfigs: [{routingKey: a, customFields: [{key: a}, {key: entity_id}]}]`, `victoropsConfigs[0].customFields[1].key: "entity_id" is reserved`},

		{`pushoverConfigs: [{token: {key: k}}]`, "pushoverConfigs[0]: one of userKey and userKeyFile is needed"},
		{`pushoverConfigs: [{userKeyFile: a}]`, "pushoverConfigs[0]: one of token and tokenFile is needed"},
		{`pushoverConfigs: [{userKeyFile: a, tokenFile: a, html: true, monospace: true}]`, "pushoverConfigs[0]: html and monospace are mutually exclusive: remove one of them"},
		{`pushoverConfigs: [{userKeyFile: a, tokenFile: a, url: a}]`, "pushoverConfigs[0].url: " + notURL},
		{`pushoverConfigs: [{userKeyFile: a, tokenFile: a, retry: a}]`, `pushoverConfigs[0].retry: "a" is not a duration`},
		{`pushoverConfigs: [{userKeyFile: a, tokenFile: a, expire: 1}]`, `pushoverConfigs[0].expire: "1" is not a duration`},
		{`pushoverConfigs: [{userKeyFile: a, tokenFile: a, ttl: 300y}]`, `pushoverConfigs[0].ttl: "300y" is not a duration`},

		{`snsConfigs: [{}]`, "snsConfigs[0]: exactly one of topicARN, phoneNumber and targetARN is needed"},
		{`snsConfigs: [{topicARN: a, phoneNumber: b}]`, "snsConfigs[0]: exactly one of topicARN, phoneNumber and targetARN is needed"},
		{`snsConfigs: [{topicARN: a, apiURL: ""}]`, "snsConfigs[0].apiURL: " + notURL},

		{`telegramConfigs: [{chatID: 1}]`, "telegramConfigs[0]: one of botToken and botTokenFile is needed"},
		{`telegramConfigs: [{chatID: 1, botToken: {key: k}, botTokenFile: a}]`, "telegramConfigs[0]: botToken and botTokenFile are mutually exclusive: remove one of them"},
		{`telegramConfigs: [{botTokenFile: a}]`, "telegramConfigs[0].chatID: is 0"},
		{`telegramConfigs: [{chatID: 1, botTokenFile: a, parseMode: Text}]`, `telegramConfigs[0].parseMode: "Text" is none of MarkdownV2, Markdown, HTML`},
		{`telegramConfigs: [{chatID: 1, botTokenFile: a, apiURL: a}]`, "telegramConfigs[0].apiURL: " + notURL},

		{`webexConfigs: [{apiURL: a, roomID: r}]`, "webexConfigs[0].apiURL: " + notURL},
		{`webexConfigs: [{apiURL: "https://a"}]`, "webexConfigs[0].roomID: is empty"},
		{`msteamsv2Configs: [{title: a}]`, "msteamsv2Configs[0].webhookURL: is missing"},

		{`rocketchatConfigs: [{apiURL: a}]`, "rocketchatConfigs[0].apiURL: " + notURL},
		{`rocketchatConfigs: [{iconURL: a}]`, "rocketchatConfigs[0].iconURL: " + notURL},
		{`rocketchatConfigs: [{imageURL: a}]`, "rocketchatConfigs[0].imageURL: " + notURL},
		{`rocketchatConfigs: [{thumbURL: "{{"}]`, "rocketchatConfigs[0].thumbURL: is not a valid template"},
		{`rocketchatConfigs: [{actions: [{}, {url: a}]}]`, "rocketchatConfigs[0].actions[1].url: " + notURL},
	} {
		if err := checkReceiver(decodeReceiver(t, tc.in)); err == nil || err.Error() != tc.want {
			t.Errorf("%s:\n got  %v\n want %s", tc.in, err, tc.want)
		}
	}
}

// TestCheckHTTP: every kind that uses HTTP checks its client with the same rules.
func TestCheckHTTP(t *testing.T) {
	for _, kind := range []string{
		"opsgenieConfigs: [{", "pagerdutyConfigs: [{routingKey: {key: k}, ", "discordConfigs: [{apiURL: {key: k}, ", "slackConfigs: [{",
		`webhookConfigs: [{url: "https://a", `, "wechatConfigs: [{", "victoropsConfigs: [{routingKey: a, ",
		"pushoverConfigs: [{userKeyFile: a, tokenFile: a, ", "snsConfigs: [{topicARN: a, ", "telegramConfigs: [{chatID: 1, botTokenFile: a, ",
		"webexConfigs: [{roomID: a, ", "msteamsConfigs: [{webhookUrl: {key: k}, ", "msteamsv2Configs: [{webhookURL: {key: k}, ",
		"rocketchatConfigs: [{token: {key: k}, tokenID: {key: k}, ",
	} {
		field, _, _ := strings.Cut(kind, ":")
		for _, tc := range []struct{ in, want string }{
			{"basicAuth: {}, bearerTokenSecret: {key: k}", ": bearerTokenSecret and basicAuth are mutually exclusive: remove one of them"},
			{"oauth2: {}, bearerTokenSecret: {key: k}", ": bearerTokenSecret and oauth2 are mutually exclusive: remove one of them"},
			{"authorization: {}, bearerTokenSecret: {key: k}", ": bearerTokenSecret and authorization are mutually exclusive: remove one of them"},
			{"authorization: {}, basicAuth: {}", ": basicAuth and authorization are mutually exclusive: remove one of them"},
			{"authorization: {}, oauth2: {}", ": authorization and oauth2 are mutually exclusive: remove one of them"},
			{"basicAuth: {}, oauth2: {}", ": basicAuth and oauth2 are mutually exclusive: remove one of them"},
			{`authorization: {type: " BASIC ", credentials: {name: s, key: k}}`, `.authorization.type: " BASIC " is not allowed here, use basicAuth`},
			{"authorization: {type: Bearer}", ".authorization.credentials: is missing"},
			{`authorization: {credentials: {name: "", key: k}}`, ".authorization.credentials.name: name of the Secret is empty"},
			{"oauth2: {clientId: {secret: {key: k}}}", ".oauth2.tokenUrl: is empty"},
			{`oauth2: {tokenUrl: "https://a"}`, ".oauth2.clientId: neither secret nor configMap is given"},
			{`oauth2: {tokenUrl: "https://a", clientId: {secret: {key: k}, configMap: {key: k}}}`, ".oauth2.clientId: secret and configMap are mutually exclusive: remove one of them"},
			{`oauth2: {tokenUrl: "https://a", clientId: {secret: {key: k}}, noProxy: a}`, ".oauth2: noProxy needs proxyUrl"},
			{`oauth2: {tokenUrl: "https://a", clientId: {secret: {key: k}}, tlsConfig: {cert: {secret: {key: k}}}}`, ".oauth2.tlsConfig: a certificate needs a key: set keySecret"},
			{"tlsConfig: {minVersion: TLS13, maxVersion: TLS12}", `.tlsConfig.maxVersion: "TLS12" is below minVersion "TLS13"`},
			{"tlsConfig: {ca: {secret: {key: k}, configMap: {key: k}}}", ".tlsConfig.ca: secret and configMap are mutually exclusive: remove one of them"},
			{"noProxy: a", ": noProxy needs proxyUrl"},
			{"proxyFromEnvironment: true, noProxy: a", ": proxyFromEnvironment and noProxy are mutually exclusive: remove one of them"},
			{`proxyFromEnvironment: true, proxyUrl: "http://a"`, ": proxyFromEnvironment and proxyUrl are mutually exclusive: remove one of them"},
			{`proxyFromEnvironment: true, proxyURL: "http://a"`, ": proxyFromEnvironment and proxyURL are mutually exclusive: remove one of them"},
			{`proxyURL: "http://a:` + secretText + `"`, ".proxyURL: is not a URL"},
			{"proxyConnectHeader: {a: [{name: s, key: k}]}", ": proxyConnectHeader needs proxyUrl or proxyFromEnvironment"},
			{"proxyFromEnvironment: true, proxyConnectHeader: {a: []}", ".proxyConnectHeader[\"a\"]: no Secret key is given"},
		} {
			in, want := kind+"httpConfig: {"+tc.in+"}}]", field+"[0].httpConfig"+tc.want
			if err := checkReceiver(decodeReceiver(t, in)); err == nil || err.Error() != want {
				t.Errorf("%s:\n got  %v\n want %s", in, err, want)
			}
		}
	}
}

// inSecret begins an error about the value of a key of the Secret s.
func inSecret(key string) string {
	return fmt.Sprintf("the value of key %q of Secret \"default/s\" ", key)
}

// TestRejectedReceivers: receivers are rejected because of Secrets or missing global
// settings, and no error contains a secret.
func TestRejectedReceivers(t *testing.T) {
	const noGlobal, emptyNoGlobal = "is missing, and the global configuration has none", "the value is empty, and the global configuration has none"
	w := secretInput()
	for _, tc := range []struct {
		in      string
		globals Globals
		want    string // "" if it is accepted
	}{
		{in: `opsgenieConfigs: [{}]`, want: "opsgenieConfigs[0].apiKey: " + noGlobal},
		{in: `opsgenieConfigs: [{apiKey: {name: s, key: empty}}]`, want: "opsgenieConfigs[0].apiKey: " + emptyNoGlobal},
		{in: `opsgenieConfigs: [{apiKey: {name: s, key: empty}}]`, globals: Globals{OpsGenieKey: true}},
		{in: `opsgenieConfigs: [{apiKey: {name: s, key: none}}]`, globals: AnyGlobals, want: `opsgenieConfigs[0].apiKey.key: Secret "default/s" has no key "none"`},
		{in: `opsgenieConfigs: [{apiKey: {name: s, key: none, optional: true}}]`, globals: AnyGlobals, want: `opsgenieConfigs[0].apiKey.key: Secret "default/s" has no key "none"`},
		{in: `pagerdutyConfigs: [{routingKey: {name: s, key: empty}, serviceKey: {name: s, key: empty}}]`, want: "pagerdutyConfigs[0]: routingKey and serviceKey: the value is empty"},
		{in: `pagerdutyConfigs: [{routingKey: {name: s, key: empty}, serviceKey: {name: s, key: key}}]`},
		{in: `pagerdutyConfigs: [{routingKey: {name: s, key: key}, serviceKey: {name: s, key: none}}]`, want: `pagerdutyConfigs[0].serviceKey.key: Secret "default/s" has no key "none"`},
		{in: `discordConfigs: [{apiURL: {name: s, key: blank}}]`, want: "discordConfigs[0].apiURL: " + inSecret("blank") + notURL},
		{in: `discordConfigs: [{apiURL: {name: s, key: quoted}}]`, want: "discordConfigs[0].apiURL: " + inSecret("quoted") + notURL},
		{in: `discordConfigs: [{apiURL: {name: none, key: url}}]`, want: `discordConfigs[0].apiURL.name: Secret "default/none" does not exist`},

		{in: `slackConfigs: [{}]`, want: "slackConfigs[0].apiURL: " + noGlobal},
		{in: `slackConfigs: [{}]`, globals: Globals{SlackURL: true}},
		{in: `slackConfigs: [{}]`, globals: Globals{SlackAppToken: true}},
		{in: `slackConfigs: [{httpConfig: {authorization: {credentials: {name: s, key: key}}}}]`, globals: Globals{SlackAppToken: true}, want: "slackConfigs[0].apiURL: " + noGlobal},
		{in: `slackConfigs: [{}]`, globals: Globals{SlackAppToken: true, HTTPAuthorization: true}, want: "slackConfigs[0].httpConfig: is missing, and the global one has an authorization beside which the global token of Slack cannot be used"},
		{in: `slackConfigs: [{httpConfig: {}}]`, globals: Globals{SlackAppToken: true, HTTPAuthorization: true}},
		{in: `slackConfigs: [{apiURL: {name: s, key: url}}]`, globals: Globals{SlackAppToken: true, HTTPAuthorization: true}},
		{in: `slackConfigs: [{apiURL: {name: s, key: control}}]`, want: "slackConfigs[0].apiURL: " + inSecret("control") + notURL},
		{in: `slackConfigs: [{apiURL: {name: s, key: ftp}}]`, want: "slackConfigs[0].apiURL: " + inSecret("ftp") + notURL},
		{in: `slackConfigs: [{apiURL: {name: s, key: host}}]`, want: "slackConfigs[0].apiURL: " + inSecret("host") + notURL + ": write https:// in front of it"},
		{in: `slackConfigs: [{apiURL: {name: s, key: url}, updateMessage: true}]`, want: "slackConfigs[0].updateMessage: needs apiURL to be https://slack.com/api/chat.postMessage"},
		{in: `slackConfigs: [{updateMessage: true}]`, globals: AnyGlobals, want: "slackConfigs[0].updateMessage: needs apiURL to be https://slack.com/api/chat.postMessage"},
		{in: `slackConfigs: [{apiURL: {name: s, key: slack}, updateMessage: true}]`},

		{in: `webhookConfigs: [{urlSecret: {name: s, key: ftp}}]`, want: "webhookConfigs[0].urlSecret: " + inSecret("ftp") + notURL},
		{in: `webhookConfigs: [{url: "https://a", urlSecret: {name: s, key: empty}}]`, want: "webhookConfigs[0].urlSecret: " + inSecret("empty") + notURL},
		{in: `webhookConfigs: [{urlSecret: {name: s, key: template}}]`, want: "webhookConfigs[0].urlSecret: " + inSecret("template") + "is not a valid template"},
		{in: `webhookConfigs: [{urlSecret: {name: s, key: function}}]`, want: "webhookConfigs[0].urlSecret: " + inSecret("function") + "is not a valid template"},
		{in: `webhookConfigs: [{urlSecret: {name: s, key: long}}]`, want: "webhookConfigs[0].urlSecret: " + inSecret("long") + "is longer than 16384 bytes"},
		{in: `webhookConfigs: [{url: "", urlSecret: {name: s, key: url}}]`},

		{in: `wechatConfigs: [{corpID: a}]`, want: "wechatConfigs[0].apiSecret: " + noGlobal},
		{in: `wechatConfigs: [{apiSecret: {name: s, key: key}}]`, want: "wechatConfigs[0].corpID: " + noGlobal},
		{in: `wechatConfigs: [{}]`, globals: Globals{WeChatSecret: true, WeChatCorpID: true}},

		{in: `emailConfigs: [{to: a, from: b}]`, globals: Globals{SMTPFrom: true}, want: "emailConfigs[0].smarthost: " + noGlobal},
		{in: `emailConfigs: [{to: a, smarthost: "b:25"}]`, globals: Globals{SMTPSmarthost: true}, want: "emailConfigs[0].from: " + noGlobal},
		{in: `emailConfigs: [{to: a}]`, globals: Globals{SMTPFrom: true, SMTPSmarthost: true}},
		{in: `emailConfigs: [{to: a, authPassword: {name: s, key: none}}]`, globals: AnyGlobals, want: `emailConfigs[0].authPassword.key: Secret "default/s" has no key "none"`},
		{in: `emailConfigs: [{to: a, tlsConfig: {ca: {secret: {name: s, key: key}}}}]`, globals: AnyGlobals, want: "emailConfigs[0].tlsConfig.ca: not a PEM block, which begins with -----BEGIN CERTIFICATE-----"},

		{in: `victoropsConfigs: [{routingKey: a}]`, want: "victoropsConfigs[0].apiKey: " + noGlobal},
		{in: `pushoverConfigs: [{userKey: {name: s, key: empty}, userKeyFile: a, tokenFile: /a}]`, want: "pushoverConfigs[0].userKey: the value is empty"},
		{in: `pushoverConfigs: [{userKeyFile: /a, token: {name: s, key: empty}}]`, want: "pushoverConfigs[0].token: the value is empty"},
		{in: `snsConfigs: [{topicARN: a, sigv4: {accessKey: {name: s, key: key}}}]`, want: "snsConfigs[0].sigv4: accessKey and secretKey must be set together"},
		{in: `snsConfigs: [{topicARN: a, sigv4: {externalId: a}}]`, want: "snsConfigs[0].sigv4: externalId needs roleArn"},
		{in: `telegramConfigs: [{chatID: 1, botToken: {name: s, key: empty}}]`, want: "telegramConfigs[0].botToken: the value is empty"},
		{in: `webexConfigs: [{roomID: a}]`, want: "webexConfigs[0].httpConfig.authorization: is missing"},
		{in: `webexConfigs: [{roomID: a, httpConfig: {authorization: {credentials: {name: s, key: empty}}}}]`, want: "webexConfigs[0].httpConfig.authorization: is missing"},
		{in: `webexConfigs: [{roomID: a, httpConfig: {bearerTokenSecret: {name: s, key: key}}}]`},
		{in: `msteamsConfigs: [{webhookUrl: {name: s, key: ftp}}]`, want: "msteamsConfigs[0].webhookUrl: " + inSecret("ftp") + notURL},
		{in: `msteamsConfigs: [{webhookUrl: {key: ""}}]`, want: "msteamsConfigs[0].webhookUrl.name: name of the Secret is empty"},
		{in: `msteamsv2Configs: [{webhookURL: {name: s, key: empty}}]`, want: "msteamsv2Configs[0].webhookURL: " + inSecret("empty") + notURL},
		{in: `rocketchatConfigs: [{token: {name: s, key: empty}, tokenID: {name: s, key: key}}]`, want: "rocketchatConfigs[0].token: the value is empty"},
		{in: `rocketchatConfigs: [{token: {name: s, key: key}, tokenID: {name: s, key: none}}]`, want: `rocketchatConfigs[0].tokenID.key: Secret "default/s" has no key "none"`},

		{in: `pagerdutyConfigs: [{routingKey: {name: s, key: none}, serviceKey: {name: s, key: void}, httpConfig: {bearerTokenSecret: {name: s, key: none}}}]`, want: `pagerdutyConfigs[0].httpConfig.bearerTokenSecret.key: Secret "default/s" has no key "none"
pagerdutyConfigs[0].routingKey.key: Secret "default/s" has no key "none"
pagerdutyConfigs[0].serviceKey.key: Secret "default/s" has no key "void"`},
		{in: `emailConfigs: [{to: a, authPassword: {name: s, key: none}, authSecret: {name: s, key: void}}]`, want: `emailConfigs[0].smarthost: ` + noGlobal + `
emailConfigs[0].from: ` + noGlobal + `
emailConfigs[0].authPassword.key: Secret "default/s" has no key "none"
emailConfigs[0].authSecret.key: Secret "default/s" has no key "void"`},
		{in: `webhookConfigs: [{url: "https://a", httpConfig: {bearerTokenSecret: {name: s, key: none}}}]`, want: `webhookConfigs[0].httpConfig.bearerTokenSecret.key: Secret "default/s" has no key "none"`},
		{in: `webhookConfigs: [{url: "https://a", httpConfig: {basicAuth: {username: {name: s, key: key}}}}]`, want: "webhookConfigs[0].httpConfig.basicAuth.password.name: name of the Secret is empty"},
		{in: `webhookConfigs: [{url: "https://a", httpConfig: {tlsConfig: {ca: {secret: {name: s, key: key}}}}}]`, want: "webhookConfigs[0].httpConfig.tlsConfig.ca: not a PEM block, which begins with -----BEGIN CERTIFICATE-----"},
	} {
		c := w.compiler(newestVersion)
		c.globals = tc.globals
		in := decodeReceiver(t, tc.in)
		if err := checkReceiver(in); err != nil {
			t.Errorf("%s: %v", tc.in, err)
		}
		_, err := c.receiver(in)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tc.want || strings.Contains(got, secretText) {
			t.Errorf("%s:\n got  %s\n want %s", tc.in, got, tc.want)
		}
	}
}

// TestLargeReceivers: an object that repeats a large value is rejected before the values
// are written, for any number of repetitions.
func TestLargeReceivers(t *testing.T) {
	w := &goldenInput{}
	w.objects.AddSecret(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"},
		StringData: map[string]string{"key": strings.Repeat("x", 1<<20)},
	})
	sel := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "key"}
	const want = "webhookConfigs[1]: the object generates too many bytes of configuration, the limit is 4194304"
	c := w.compiler(newestVersion)
	for i := range 10_000 {
		hook := v1alpha1.WebhookConfig{URL: new("https://a"), HTTPConfig: &v1alpha1.HTTPConfig{}}
		hook.HTTPConfig.BearerTokenSecret = sel
		_, err := c.receiver(&v1alpha1.Receiver{Name: "test", WebhookConfigs: []v1alpha1.WebhookConfig{hook, hook}})
		if err == nil {
			continue
		}
		if err.Error() != want || i != 1 {
			t.Errorf("receiver %d: %v", i, err)
		}
		return
	}
	t.Error("everything is accepted")
}

// TestBadGlobals: errors start with the path below alertmanagerConfiguration.global.
func TestBadGlobals(t *testing.T) {
	w := secretInput()
	for _, tc := range []struct{ in, want string }{
		{`resolveTimeout: 5`, `resolveTimeout: "5" is not a duration`},
		{`httpConfig: {authorization: {type: basic, credentials: {name: s, key: key}}}`, `httpConfig.authorization.type: "basic" is not allowed here, use basicAuth`},
		{`httpConfig: {noProxy: a}`, "httpConfig: noProxy needs proxyUrl"},
		{`httpConfig: {tlsConfig: {ca: {secret: {name: s, key: key}}}}`, "httpConfig.tlsConfig.ca: not a PEM block, which begins with -----BEGIN CERTIFICATE-----"},
		{`smtp: {smartHost: {host: a}}`, "smtp.smartHost.port: is empty"},
		{`smtp: {smartHost: {port: "25"}}`, "smtp.smartHost.host: is empty"},
		{`smtp: {smartHost: {host: "[::1]", port: "25"}}`, `smtp.smartHost: "[[::1]]:25" is not host:port, such as smtp.example.com:587`},
		{`smtp: {authPassword: {name: s, key: none}}`, `smtp.authPassword.key: Secret "default/s" has no key "none"`},
		{`smtp: {authSecret: {name: s, key: none}}`, `smtp.authSecret.key: Secret "default/s" has no key "none"`},
		{`smtp: {tlsConfig: {keySecret: {name: s, key: key}}}`, "smtp.tlsConfig: a key needs a certificate: set cert"},
		{`slackApiUrl: {name: s, key: ftp}`, "slackApiUrl: " + inSecret("ftp") + notURL},
		{`opsGenieApiUrl: {name: s, key: empty}`, "opsGenieApiUrl: " + inSecret("empty") + notURL},
		{`opsGenieApiKey: {name: s, key: none}`, `opsGenieApiKey.key: Secret "default/s" has no key "none"`},
		{`pagerdutyUrl: example.com`, "pagerdutyUrl: " + notURL},
		{`telegram: {apiURL: example.com}`, "telegram.apiURL: " + notURL},
		{`jira: {apiURL: "https://` + secretText + `:a@"}`, "jira.apiURL: " + notURL},
		{`rocketChat: {apiURL: a}`, "rocketChat.apiURL: " + notURL},
		{`rocketChat: {token: {name: s, key: none}}`, `rocketChat.token.key: Secret "default/s" has no key "none"`},
		{`rocketChat: {tokenID: {name: s, key: none}}`, `rocketChat.tokenID.key: Secret "default/s" has no key "none"`},
		{`webex: {apiURL: a}`, "webex.apiURL: " + notURL},
		{`wechat: {apiURL: a}`, "wechat.apiURL: " + notURL},
		{`wechat: {apiSecret: {name: s, key: none}}`, `wechat.apiSecret.key: Secret "default/s" has no key "none"`},
		{`victorops: {apiURL: a}`, "victorops.apiURL: " + notURL},
		{`victorops: {apiKey: {name: s, key: none}}`, `victorops.apiKey.key: Secret "default/s" has no key "none"`},
		{`mattermost: {webhookURL: {name: s, key: quoted}}`, "mattermost.webhookURL: " + inSecret("quoted") + notURL},
	} {
		in := &v1.AlertmanagerGlobalConfig{}
		if err := kyaml.UnmarshalStrict([]byte(tc.in), in); err != nil {
			t.Fatal(err)
		}
		if _, err := w.compiler(newestVersion).global(in); err == nil || err.Error() != tc.want {
			t.Errorf("%s:\n got  %v\n want %s", tc.in, err, tc.want)
		}
	}
	if g, err := w.compiler(newestVersion).global(nil); g != nil || err != nil {
		t.Error(g, err)
	}
	if got := (*Global)(nil).provides(); got != (Globals{}) {
		t.Error(got)
	}
}
