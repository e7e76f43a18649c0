package amconfig

import (
	"bytes"
	"errors"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// try loads the items of an AlertmanagerConfig within a small document, so that items that
// pass all checks cannot make the shared document invalid. The error contains the field.
//
// add, sections: the same items, as structs and as text.
func (c *compiler) try(add additions, sections map[Section][]byte, trial *Frame) error {
	err := load(document(trial, sections))
	if err == nil {
		return nil
	}
	for i := range add.receivers {
		one := additions{receivers: add.receivers[i : i+1]}
		if err := c.tryOne(&one, trial); err != nil {
			return faults.At(faults.Index("spec.receivers", i), err)
		}
	}
	for i := range add.inhibit {
		one := additions{inhibit: add.inhibit[i : i+1]}
		if err := c.tryOne(&one, trial); err != nil {
			return faults.At(faults.Index("spec.inhibitRules", i), err)
		}
	}
	for i := range add.intervals {
		one := additions{intervals: add.intervals[i : i+1]}
		if err := c.tryOne(&one, trial); err != nil {
			return faults.At(faults.Index("spec.muteTimeIntervals", i), err)
		}
	}
	return faults.At("spec", errors.New("refused by Alertmanager: "+explain(document(trial, sections), err, c.secret).Error()))
}

// tryOne loads a single item.
func (c *compiler) tryOne(one *additions, trial *Frame) error {
	sections, _, err := one.encode(c.target, nil)
	if err != nil {
		return err
	}
	text := document(trial, sections)
	refused := load(text)
	if refused == nil {
		return nil
	}
	return faults.Reword(explain(text, refused, c.secret), func(f *faults.Finding) {
		f.Reason = "refused by Alertmanager: " + f.Reason
		f.Field = fieldPath(strings.TrimPrefix(f.Field, "receivers[1].")) // behind that of the trial frame
	})
}

// document assembles a frame with additional items.
func document(f *Frame, added map[Section][]byte) []byte {
	var out bytes.Buffer
	for _, part := range Assemble(f, func(s Section) [][]byte {
		if len(added[s]) == 0 {
			return nil
		}
		return [][]byte{added[s]}
	}) {
		out.Write(part.Text)
		for _, item := range part.Items {
			out.Write(item)
		}
	}
	return out.Bytes()
}

// trialFrame returns the smallest base that provides g.
func trialFrame(g Globals) Frame {
	slackURL := "https://localhost/"
	if g.SlackAppToken { // only this one is allowed together with a token
		slackURL = "https://slack.com/api/chat.postMessage"
	}
	var head strings.Builder
	head.WriteString("global:\n  resolve_timeout: 5m\n")
	for _, row := range []struct {
		given bool
		line  string
	}{
		{g.SMTPFrom, "smtp_from: from@localhost"},
		{g.SMTPSmarthost, "smtp_smarthost: localhost:25"},
		{g.SlackURL, "slack_api_url: " + slackURL},
		{g.SlackAppToken, "slack_app_token: token"},
		{g.OpsGenieKey, "opsgenie_api_key: key"},
		{g.VictorOpsKey, "victorops_api_key: key"},
		{g.WeChatSecret, "wechat_api_secret: secret"},
		{g.WeChatCorpID, "wechat_api_corp_id: id"},
		{g.TelegramToken, "telegram_bot_token: token"},
		{g.MattermostURL, "mattermost_webhook_url: https://localhost/"},
		{g.RocketChatToken, "rocketchat_token: token"},
		{g.RocketChatTokenID, "rocketchat_token_id: id"},
		{g.Jira, "jira_api_url: https://localhost/"},
		{g.HTTPAuthorization, "http_config: {authorization: {credentials: secret}}"},
	} {
		if row.given {
			head.WriteString("  " + row.line + "\n")
		}
	}
	head.WriteString("route:\n  receiver: base\n")
	return Frame{
		Head:  []byte(head.String()),
		Items: map[Section][]byte{Receivers: []byte("- name: base\n")},
		Tail:  []byte("templates: []\n"),
	}
}
