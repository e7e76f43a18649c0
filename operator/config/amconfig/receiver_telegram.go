package amconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// Telegram is one entry of telegram_configs.
type Telegram struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// APIURL overrides the global one.
	APIURL string `yaml:"api_url,omitempty"`
	// BotToken of the bot.
	BotToken string `yaml:"bot_token,omitempty"`
	// BotTokenFile is a path in the container.
	BotTokenFile string `yaml:"bot_token_file,omitempty" since:"alertmanager=0.26.0" reject:"botTokenFile"`
	// ChatID of a user, group or channel.
	ChatID int64 `yaml:"chat_id"`
	// MessageThreadID of a topic in the group.
	MessageThreadID *int64 `yaml:"message_thread_id,omitempty" since:"alertmanager=0.28.0"`
	// Message text.
	Message string `yaml:"message,omitempty"`
	// DisableNotifications sends the message without sound.
	DisableNotifications bool `yaml:"disable_notifications,omitempty"`
	// ParseMode is the markup of the text.
	ParseMode string `yaml:"parse_mode,omitempty"`
}

var parseModes = []string{"MarkdownV2", "Markdown", "HTML"}

func checkTelegram(in *v1alpha1.TelegramConfig) error {
	switch {
	case in.BotToken == nil && in.BotTokenFile == "":
		return errors.New("one of botToken and botTokenFile is needed")
	case in.BotToken != nil && in.BotTokenFile != "":
		return clientconfig.Exclusive("botToken", "botTokenFile")
	case in.ChatID == 0:
		return faults.At("chatID", errors.New("is 0"))
	case in.ParseMode != "" && !slices.Contains(parseModes, in.ParseMode):
		return faults.At("parseMode", fmt.Errorf("%q is none of %s", excerpt.Of(in.ParseMode, maxShown), strings.Join(parseModes, ", ")))
	}
	return errors.Join(checkOptionalURL("apiURL", in.APIURL), checkHTTP(in.HTTPConfig))
}

func (c *compiler) telegram(in *v1alpha1.TelegramConfig) (Telegram, error) {
	var errs faults.List
	notifier, err := c.notifier(in.SendResolved, in.HTTPConfig)
	errs.Add("", err)
	// The first version with Telegram ignores the global URL.
	if in.APIURL == "" && !c.target.AtLeast("alertmanager=0.25.0") {
		errs.Add("apiURL", errors.New("may be empty only with Alertmanager >= 0.25.0"))
	}
	errs.Add("", c.file("botTokenFile", in.BotTokenFile))
	out := Telegram{
		Notifier: notifier, APIURL: in.APIURL, BotTokenFile: in.BotTokenFile, ChatID: in.ChatID,
		MessageThreadID: in.MessageThreadID, Message: text(in.Message), DisableNotifications: enabled(in.DisableNotifications),
		ParseMode: in.ParseMode,
	}
	if in.BotToken != nil {
		out.BotToken, err = c.needed("botToken", *in.BotToken)
		errs.Add("", err)
	}
	return out, errs.Err()
}
