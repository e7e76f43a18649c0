package amconfig

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// WeChat is one entry of wechat_configs.
type WeChat struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// APISecret overrides the global one.
	APISecret string `yaml:"api_secret,omitempty"`
	// APIURL overrides the global one.
	APIURL string `yaml:"api_url,omitempty"`
	// CorpID overrides the global one.
	CorpID string `yaml:"corp_id,omitempty"`
	// AgentID of the application.
	AgentID string `yaml:"agent_id,omitempty"`
	// ToUser is a list of users, separated by "|".
	ToUser string `yaml:"to_user,omitempty"`
	// ToParty is a list of departments, separated by "|".
	ToParty string `yaml:"to_party,omitempty"`
	// ToTag is a list of tags, separated by "|".
	ToTag string `yaml:"to_tag,omitempty"`
	// Message text.
	Message string `yaml:"message,omitempty"`
	// MessageType is text or markdown.
	MessageType string `yaml:"message_type,omitempty" since:"alertmanager=0.22.0"`
}

func checkWeChat(in *v1alpha1.WeChatConfig) error {
	if !slices.Contains([]string{"", "text", "markdown"}, in.MessageType) {
		return faults.At("messageType", fmt.Errorf("%q is neither text nor markdown", excerpt.Of(in.MessageType, maxShown)))
	}
	return errors.Join(checkOptionalURL("apiURL", in.APIURL), checkHTTP(in.HTTPConfig))
}

func (c *compiler) weChat(in *v1alpha1.WeChatConfig) (WeChat, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	secret, secretErr := c.orGlobal("apiSecret", in.APISecret, c.globals.WeChatSecret)
	var corpErr error
	if in.CorpID == "" && !c.globals.WeChatCorpID {
		corpErr = faults.At("corpID", errNoGlobal)
	}
	return WeChat{
		Notifier: notifier, APISecret: secret, APIURL: in.APIURL, CorpID: in.CorpID, AgentID: in.AgentID, ToUser: in.ToUser,
		ToParty: in.ToParty, ToTag: in.ToTag, Message: in.Message, MessageType: in.MessageType,
	}, errors.Join(httpErr, secretErr, corpErr)
}
