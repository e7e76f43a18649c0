package amconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Slack is one entry of slack_configs.
type Slack struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// APIURL overrides the global one.
	APIURL string `yaml:"api_url,omitempty"`
	// Channel or user to post to.
	Channel string `yaml:"channel,omitempty"`
	// Username of the sender.
	Username string `yaml:"username,omitempty"`
	// Color of the attachment.
	Color string `yaml:"color,omitempty"`
	// Title of the attachment.
	Title string `yaml:"title,omitempty"`
	// TitleLink is the link target of the title.
	TitleLink string `yaml:"title_link,omitempty"`
	// Pretext is shown above the attachment.
	Pretext string `yaml:"pretext,omitempty"`
	// Text of the attachment.
	Text string `yaml:"text,omitempty"`
	// MessageText is the text of the message itself.
	MessageText string `yaml:"message_text,omitempty" since:"alertmanager=0.31.0" reject:"messageText"`
	// Fields are shown as a table.
	Fields []SlackField `yaml:"fields,omitempty"`
	// ShortFields is the default for fields.
	ShortFields bool `yaml:"short_fields,omitempty"`
	// Footer of the attachment.
	Footer string `yaml:"footer,omitempty"`
	// Fallback is shown by clients without support for attachments.
	Fallback string `yaml:"fallback,omitempty"`
	// CallbackID identifies the buttons.
	CallbackID string `yaml:"callback_id,omitempty"`
	// IconEmoji is the avatar.
	IconEmoji string `yaml:"icon_emoji,omitempty"`
	// IconURL is the avatar.
	IconURL string `yaml:"icon_url,omitempty"`
	// ImageURL of the attachment.
	ImageURL string `yaml:"image_url,omitempty"`
	// ThumbURL of the attachment.
	ThumbURL string `yaml:"thumb_url,omitempty"`
	// LinkNames converts names to links.
	LinkNames bool `yaml:"link_names,omitempty"`
	// MrkdwnIn lists the parts that are formatted.
	MrkdwnIn []string `yaml:"mrkdwn_in,omitempty"`
	// Actions are buttons.
	Actions []SlackAction `yaml:"actions,omitempty"`
	// UpdateMessage replaces the first message of a group.
	UpdateMessage *bool `yaml:"update_message,omitempty" since:"alertmanager=0.32.0" reject:"updateMessage"`
	// Timeout of one request, as a Go duration.
	Timeout string `yaml:"timeout,omitempty" since:"alertmanager=0.30.0"`
}

// SlackField is an item of fields.
type SlackField struct {
	// Title of the row.
	Title string `yaml:"title"`
	// Value of the row.
	Value string `yaml:"value"`
	// Short overrides short_fields for this field, so false is written, too.
	Short *bool `yaml:"short,omitempty"`
}

// SlackAction is an item of actions.
type SlackAction struct {
	// Type of the action.
	Type string `yaml:"type"`
	// Text of the button.
	Text string `yaml:"text"`
	// URL is opened by the button.
	URL string `yaml:"url,omitempty"`
	// Style of the button.
	Style string `yaml:"style,omitempty"`
	// Name is sent with the callback.
	Name string `yaml:"name,omitempty"`
	// Value is sent with the callback.
	Value string `yaml:"value,omitempty"`
	// Confirm requires a confirmation by the user.
	Confirm *SlackConfirmation `yaml:"confirm,omitempty"`
}

// SlackConfirmation is a confirm block.
type SlackConfirmation struct {
	// Text is the text of the dialog.
	Text string `yaml:"text"`
	// Title is the title of the dialog.
	Title string `yaml:"title,omitempty"`
	// OkText is the label of the button that confirms.
	OkText string `yaml:"ok_text,omitempty"`
	// DismissText is the label of the button that cancels.
	DismissText string `yaml:"dismiss_text,omitempty"`
}

// chatPostMessage is the only URL that supports updating messages.
const chatPostMessage = "https://slack.com/api/chat.postMessage"

func checkSlack(in *v1alpha1.SlackConfig) error {
	return errors.Join(
		faults.Each("actions", in.Actions, checkSlackAction),
		faults.Each("fields", in.Fields, func(f *v1alpha1.SlackField) error {
			return errors.Join(checkNotEmpty("title", f.Title), checkNotEmpty("value", f.Value))
		}),
		checkDuration("timeout", in.Timeout), checkHTTP(in.HTTPConfig),
	)
}

func checkSlackAction(in *v1alpha1.SlackAction) error {
	if err := errors.Join(checkNotEmpty("type", in.Type), checkNotEmpty("text", in.Text)); err != nil {
		return err
	}
	if text(in.URL) == "" && in.Name == "" {
		return errors.New("one of url and name is needed")
	}
	if in.Confirm != nil {
		return checkNotEmpty("confirm.text", in.Confirm.Text)
	}
	return nil
}

func (c *compiler) slack(in *v1alpha1.SlackConfig) (Slack, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	url, urlErr := c.slackURL(in, notifier.HTTPConfig)
	timeout, timeoutErr := goDuration("timeout", in.Timeout)
	return Slack{
		Notifier: notifier, APIURL: url, Channel: in.Channel, Username: in.Username, Color: in.Color, Title: in.Title,
		TitleLink: text(in.TitleLink), Pretext: in.Pretext, Text: in.Text, MessageText: in.MessageText,
		Fields: slackFields(in.Fields), ShortFields: enabled(in.ShortFields), Footer: in.Footer, Fallback: in.Fallback,
		CallbackID: in.CallbackID, IconEmoji: in.IconEmoji, IconURL: text(in.IconURL), ImageURL: text(in.ImageURL),
		ThumbURL: text(in.ThumbURL), LinkNames: enabled(in.LinkNames), MrkdwnIn: in.MrkdwnIn, Actions: slackActions(in.Actions),
		UpdateMessage: in.UpdateMessage, Timeout: timeout,
	}, errors.Join(httpErr, urlErr, timeoutErr)
}

// slackURL returns the destination of messages; empty means the global URL or token. The
// global token cannot be combined with an authorization of the receiver.
func (c *compiler) slackURL(in *v1alpha1.SlackConfig, client *HTTPConfig) (url string, err error) {
	global := c.globals.SlackURL || c.globals.SlackAppToken && !client.authenticates()
	switch {
	case in.APIURL != nil:
		if url, err = c.secretURL("apiURL", *in.APIURL); err != nil {
			return "", err
		}
	case !global:
		return "", faults.At("apiURL", errNoGlobal)
	case c.globals.SlackAppToken && c.globals.HTTPAuthorization && in.HTTPConfig == nil:
		return "", faults.At("httpConfig", errors.New("is missing, and the global one has an authorization beside which the global token of Slack cannot be used"))
	}
	if enabled(in.UpdateMessage) && url != chatPostMessage {
		return "", faults.At("updateMessage", errors.New("needs apiURL to be "+chatPostMessage))
	}
	return url, nil
}

func slackFields(in []v1alpha1.SlackField) []SlackField {
	out := make([]SlackField, len(in))
	for i, f := range in {
		out[i] = SlackField{Title: f.Title, Value: f.Value, Short: f.Short}
	}
	return out
}

func slackActions(in []v1alpha1.SlackAction) []SlackAction {
	out := make([]SlackAction, len(in))
	for i, a := range in {
		out[i] = SlackAction{Type: a.Type, Text: a.Text, URL: text(a.URL), Style: a.Style, Name: a.Name, Value: a.Value}
		if q := a.Confirm; q != nil {
			out[i].Confirm = &SlackConfirmation{Text: q.Text, Title: q.Title, OkText: q.OkText, DismissText: q.DismissText}
		}
	}
	return out
}
