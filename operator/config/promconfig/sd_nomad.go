package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// NomadSD is one entry of nomad_sd_configs.
type NomadSD struct {
	// Credentials for the API.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy towards the API.
	clientconfig.Proxy `yaml:",inline"`
	// Server is the URL of the API.
	Server string `yaml:"server"`
	// AllowStale answers.
	AllowStale *bool `yaml:"allow_stale,omitempty"`
	// Namespace to ask about.
	Namespace string `yaml:"namespace,omitempty"`
	// RefreshInterval between two requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Region to ask about.
	Region string `yaml:"region,omitempty"`
	// TagSeparator joins tags into one label.
	TagSeparator string `yaml:"tag_separator,omitempty"`
	// Redirects of the client.
	clientconfig.Redirects `yaml:",inline"`
	// TLSConfig towards the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
}

func (c *compiler) nomadSD(in *v1alpha1.NomadSDConfig) (*NomadSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	return &NomadSD{
		Credentials: client.Credentials, Proxy: client.Proxy, Server: in.Server, AllowStale: in.AllowStale, Namespace: in.Namespace,
		RefreshInterval: in.RefreshInterval, Region: in.Region, TagSeparator: in.TagSeparator, Redirects: client.Redirects, TLSConfig: client.TLS,
	}, first(checkURL("server", in.Server), checkPositive("refreshInterval", in.RefreshInterval))
}
