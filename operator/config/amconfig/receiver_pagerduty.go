package amconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// PagerDuty is one entry of pagerduty_configs.
type PagerDuty struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// RoutingKey is the key of the Events API v2.
	RoutingKey string `yaml:"routing_key,omitempty"`
	// ServiceKey is the key of the older integration.
	ServiceKey string `yaml:"service_key,omitempty"`
	// URL overrides the global one.
	URL string `yaml:"url,omitempty"`
	// Client is the name of the monitoring system.
	Client string `yaml:"client,omitempty"`
	// ClientURL is the URL of the monitoring system.
	ClientURL string `yaml:"client_url,omitempty"`
	// Description of the incident.
	Description string `yaml:"description,omitempty"`
	// Details of the incident.
	Details map[string]string `yaml:"details,omitempty"`
	// Images of the incident.
	Images []PagerDutyImage `yaml:"images,omitempty"`
	// Links of the incident.
	Links []PagerDutyLink `yaml:"links,omitempty"`
	// Source of the event.
	Source string `yaml:"source,omitempty" since:"alertmanager=0.25.0"`
	// Severity of the incident.
	Severity string `yaml:"severity,omitempty"`
	// Class of the event.
	Class string `yaml:"class,omitempty"`
	// Component is the affected component.
	Component string `yaml:"component,omitempty"`
	// Group of components.
	Group string `yaml:"group,omitempty"`
	// Timeout of one request, as a Go duration.
	Timeout string `yaml:"timeout,omitempty" since:"alertmanager=0.30.0"`
}

// PagerDutyImage is an item of images.
type PagerDutyImage struct {
	// Src is the URL of the image.
	Src string `yaml:"src,omitempty"`
	// Alt is the alternative text of the image.
	Alt string `yaml:"alt,omitempty"`
	// Href is the link target of the image.
	Href string `yaml:"href,omitempty"`
}

// PagerDutyLink is an item of links.
type PagerDutyLink struct {
	// Href is the link target of the link.
	Href string `yaml:"href,omitempty"`
	// Text of the link.
	Text string `yaml:"text,omitempty"`
}

func checkPagerDuty(in *v1alpha1.PagerDutyConfig) error {
	var keys error
	if in.RoutingKey == nil && in.ServiceKey == nil {
		keys = errors.New("one of routingKey and serviceKey is needed")
	}
	return errors.Join(
		keys,
		faults.Each("pagerDutyLinkConfigs", in.PagerDutyLinkConfigs, func(link *v1alpha1.PagerDutyLinkConfig) error {
			return checkOptionalTemplateURL("href", link.Href)
		}),
		faults.Each("pagerDutyImageConfigs", in.PagerDutyImageConfigs, func(image *v1alpha1.PagerDutyImageConfig) error {
			return checkOptionalTemplateURL("href", image.Href)
		}),
		checkOptionalURL("url", in.URL), checkOptionalTemplateURL("clientURL", in.ClientURL),
		checkDuration("timeout", in.Timeout), checkHTTP(in.HTTPConfig),
	)
}

func (c *compiler) pagerDuty(in *v1alpha1.PagerDutyConfig) (PagerDuty, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	routing, routingErr := c.value("routingKey", in.RoutingKey)
	service, serviceErr := c.value("serviceKey", in.ServiceKey)
	keys := errors.Join(routingErr, serviceErr)
	if keys == nil && routing == "" && service == "" {
		keys = errors.New("routingKey and serviceKey: the value is empty")
	}
	timeout, timeoutErr := goDuration("timeout", in.Timeout)
	return PagerDuty{
		Notifier: notifier, RoutingKey: routing, ServiceKey: service, URL: in.URL, Client: in.Client, ClientURL: text(in.ClientURL),
		Description: in.Description, Details: keyValues(in.Details), Images: pagerDutyImages(in.PagerDutyImageConfigs),
		Links: pagerDutyLinks(in.PagerDutyLinkConfigs), Source: in.Source, Severity: in.Severity, Class: in.Class,
		Component: in.Component, Group: in.Group, Timeout: timeout,
	}, errors.Join(httpErr, keys, timeoutErr)
}

func pagerDutyImages(in []v1alpha1.PagerDutyImageConfig) []PagerDutyImage {
	out := make([]PagerDutyImage, len(in))
	for i, image := range in {
		out[i] = PagerDutyImage{Src: image.Src, Alt: image.Alt, Href: text(image.Href)}
	}
	return out
}

func pagerDutyLinks(in []v1alpha1.PagerDutyLinkConfig) []PagerDutyLink {
	out := make([]PagerDutyLink, len(in))
	for i, link := range in {
		out[i] = PagerDutyLink{Href: text(link.Href), Text: link.Alt}
	}
	return out
}
