package amconfig

import (
	"errors"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Webhook is one entry of webhook_configs.
type Webhook struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// URL to post to.
	URL string `yaml:"url"`
	// MaxAlerts is the maximum number of alerts per request.
	MaxAlerts int32 `yaml:"max_alerts,omitempty"`
	// Timeout of one request, as a Go duration.
	Timeout string `yaml:"timeout,omitempty" since:"alertmanager=0.28.0"`
	// Payload is a template of the body.
	Payload string `yaml:"payload,omitempty" since:"alertmanager=0.32.0" reject:"payload"`
}

func checkWebhook(in *v1alpha1.WebhookConfig) error {
	var url error
	switch {
	case in.URL == nil && in.URLSecret == nil:
		url = errors.New("one of url and urlSecret is needed")
	case in.URL != nil && (*in.URL != "" || in.URLSecret == nil):
		url = checkWebhookURL("url", *in.URL)
	}
	return errors.Join(url, checkDuration("timeout", in.Timeout), checkHTTP(in.HTTPConfig))
}

// checkWebhookURL checks the only URL whose template Alertmanager parses when it loads the file.
func checkWebhookURL(field, url string) error {
	if isTemplate(url) {
		return checkLoadedTemplate(field, url)
	}
	return checkURL(field, url)
}

func (c *compiler) webhook(in *v1alpha1.WebhookConfig) (Webhook, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	url, urlErr := c.webhookURL(in)
	timeout, timeoutErr := goDuration("timeout", in.Timeout)
	out := Webhook{Notifier: notifier, URL: url, Timeout: timeout, Payload: in.Payload}
	if in.MaxAlerts != nil && *in.MaxAlerts > 0 {
		out.MaxAlerts = *in.MaxAlerts
	}
	return out, errors.Join(httpErr, urlErr, timeoutErr)
}

func (c *compiler) webhookURL(in *v1alpha1.WebhookConfig) (url string, err error) {
	field := "url"
	if in.URLSecret == nil {
		url = *in.URL
	} else {
		field = "urlSecret"
		if url, err = c.value(field, in.URLSecret); err != nil {
			return "", err
		}
		url = strings.TrimSpace(url)
		if err = c.inSecret(*in.URLSecret, url, checkWebhookURL(field, url)); err != nil {
			return "", err
		}
	}
	// Versions without support for templates require a URL.
	if isTemplate(url) && !c.target.AtLeast("alertmanager=0.31.0") && checkURL(field, url) != nil {
		return "", faults.At(field, errors.New("a template needs Alertmanager >= 0.31.0"))
	}
	return url, nil
}
