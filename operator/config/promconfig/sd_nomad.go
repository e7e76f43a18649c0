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
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// Server is the URL of the API.
	Server string `yaml:"server"`
	// AllowStale allows stale responses.
	AllowStale *bool `yaml:"allow_stale,omitempty"`
	// Namespace is the namespace to query.
	Namespace string `yaml:"namespace,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Region is the region to query.
	Region string `yaml:"region,omitempty"`
	// TagSeparator joins tags into one label.
	TagSeparator string `yaml:"tag_separator,omitempty"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
	// TLSConfig is used for connections to the API.
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
	}, first(checkURL("server", in.Server), checkRefresh(in.RefreshInterval))
}
