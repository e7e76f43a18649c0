package amconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// RocketChat is one entry of rocketchat_configs.
type RocketChat struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// APIURL overrides the global one.
	APIURL string `yaml:"api_url,omitempty"`
	// Token of the sender.
	Token string `yaml:"token"`
	// TokenID is the ID of the token.
	TokenID string `yaml:"token_id"`
	// Channel or user to post to.
	Channel string `yaml:"channel,omitempty"`
	// Color of the attachment.
	Color string `yaml:"color,omitempty"`
	// Title of the attachment.
	Title string `yaml:"title,omitempty"`
	// TitleLink is the link target of the title.
	TitleLink string `yaml:"title_link,omitempty"`
	// Text of the attachment.
	Text string `yaml:"text,omitempty"`
	// Fields are shown as a table.
	Fields []RocketChatField `yaml:"fields,omitempty"`
	// ShortFields is the default for fields.
	ShortFields bool `yaml:"short_fields"`
	// Emoji is the avatar.
	Emoji string `yaml:"emoji,omitempty"`
	// IconURL is the avatar.
	IconURL string `yaml:"icon_url,omitempty"`
	// ImageURL of the attachment.
	ImageURL string `yaml:"image_url,omitempty"`
	// ThumbURL of the attachment.
	ThumbURL string `yaml:"thumb_url,omitempty"`
	// LinkNames converts names to links.
	LinkNames bool `yaml:"link_names"`
	// Actions are buttons.
	Actions []RocketChatAction `yaml:"actions,omitempty"`
}

// RocketChatField is an item of fields.
type RocketChatField struct {
	// Title of the row.
	Title string `yaml:"title,omitempty"`
	// Value of the row.
	Value string `yaml:"value,omitempty"`
	// Short overrides short_fields for this field.
	Short *bool `yaml:"short"`
}

// RocketChatAction is an item of actions. The keys is_webview and msg_in_chat_window exist
// in Alertmanager's requests, but not in its configuration file.
type RocketChatAction struct {
	// Text of the button.
	Text string `yaml:"text,omitempty"`
	// URL is opened by the button.
	URL string `yaml:"url,omitempty"`
	// Msg is posted by the button.
	Msg string `yaml:"msg,omitempty"`
}

func checkRocketChat(in *v1alpha1.RocketChatConfig) error {
	return errors.Join(
		faults.Each("actions", in.Actions, func(a *v1alpha1.RocketChatActionConfig) error { return checkOptionalTemplateURL("url", a.URL) }),
		checkOptionalURL("apiURL", in.APIURL), checkOptionalTemplateURL("iconURL", in.IconURL),
		checkOptionalTemplateURL("imageURL", in.ImageURL), checkOptionalTemplateURL("thumbURL", in.ThumbURL),
		checkHTTP(in.HTTPConfig),
	)
}

func (c *compiler) rocketChat(in *v1alpha1.RocketChatConfig) (RocketChat, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	token, tokenErr := c.needed("token", in.Token)
	id, idErr := c.needed("tokenID", in.TokenID)
	return RocketChat{
		Notifier: notifier, APIURL: in.APIURL, Token: token, TokenID: id, Channel: in.Channel, Color: in.Color, Title: in.Title,
		TitleLink: in.TitleLink, Text: in.Text, Fields: rocketChatFields(in.Fields), ShortFields: enabled(in.ShortFields),
		Emoji: in.Emoji, IconURL: text(in.IconURL), ImageURL: text(in.ImageURL), ThumbURL: text(in.ThumbURL),
		LinkNames: enabled(in.LinkNames), Actions: rocketChatActions(in.Actions),
	}, errors.Join(httpErr, tokenErr, idErr)
}

func rocketChatFields(in []v1alpha1.RocketChatFieldConfig) []RocketChatField {
	out := make([]RocketChatField, len(in))
	for i, f := range in {
		out[i] = RocketChatField{Title: f.Title, Value: f.Value, Short: f.Short}
	}
	return out
}

func rocketChatActions(in []v1alpha1.RocketChatActionConfig) []RocketChatAction {
	out := make([]RocketChatAction, len(in))
	for i, a := range in {
		out[i] = RocketChatAction{Text: a.Text, URL: text(a.URL), Msg: a.Msg}
	}
	return out
}
