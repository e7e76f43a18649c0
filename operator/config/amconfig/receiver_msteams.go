package amconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// MSTeams is one entry of msteams_configs.
type MSTeams struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// WebhookURL is the URL of the connector.
	WebhookURL string `yaml:"webhook_url"`
	// Title of the card.
	Title string `yaml:"title,omitempty"`
	// Summary is shown in device notifications.
	Summary string `yaml:"summary,omitempty" since:"alertmanager=0.27.0"`
	// Text of the card.
	Text string `yaml:"text,omitempty"`
}

func checkMSTeams(in *v1alpha1.MSTeamsConfig) error { return checkHTTP(in.HTTPConfig) }

func (c *compiler) msTeams(in *v1alpha1.MSTeamsConfig) (MSTeams, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	url, err := c.secretURL("webhookUrl", in.WebhookURL)
	return MSTeams{Notifier: notifier, WebhookURL: url, Title: text(in.Title), Summary: text(in.Summary), Text: text(in.Text)}, errors.Join(httpErr, err)
}
