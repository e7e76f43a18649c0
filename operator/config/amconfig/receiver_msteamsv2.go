package amconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// MSTeamsV2 is one entry of msteamsv2_configs.
type MSTeamsV2 struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// WebhookURL is the URL of the workflow.
	WebhookURL string `yaml:"webhook_url"`
	// Title of the card.
	Title string `yaml:"title,omitempty"`
	// Text of the card.
	Text string `yaml:"text,omitempty"`
}

func checkMSTeamsV2(in *v1alpha1.MSTeamsV2Config) error {
	if in.WebhookURL == nil {
		return faults.At("webhookURL", errMissing)
	}
	return checkHTTP(in.HTTPConfig)
}

func (c *compiler) msTeamsV2(in *v1alpha1.MSTeamsV2Config) (MSTeamsV2, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	url, err := c.secretURL("webhookURL", *in.WebhookURL)
	return MSTeamsV2{Notifier: notifier, WebhookURL: url, Title: in.Title, Text: in.Text}, errors.Join(httpErr, err)
}
