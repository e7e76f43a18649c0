package amconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Discord is one entry of discord_configs.
type Discord struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// WebhookURL is the URL of the channel.
	WebhookURL string `yaml:"webhook_url"`
	// Title of the embed.
	Title string `yaml:"title,omitempty"`
	// Message of the embed.
	Message string `yaml:"message,omitempty"`
	// Content above the embed.
	Content string `yaml:"content,omitempty" since:"alertmanager=0.28.0"`
	// Username of the sender.
	Username string `yaml:"username,omitempty" since:"alertmanager=0.28.0"`
	// AvatarURL of the sender.
	AvatarURL string `yaml:"avatar_url,omitempty" since:"alertmanager=0.28.0"`
}

func checkDiscord(in *v1alpha1.DiscordConfig) error { return checkHTTP(in.HTTPConfig) }

func (c *compiler) discord(in *v1alpha1.DiscordConfig) (Discord, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	url, err := c.secretURL("apiURL", in.APIURL)
	return Discord{
		Notifier: notifier, WebhookURL: url, Title: text(in.Title), Message: text(in.Message),
		Content: in.Content, Username: in.Username, AvatarURL: in.AvatarURL,
	}, errors.Join(httpErr, err)
}
