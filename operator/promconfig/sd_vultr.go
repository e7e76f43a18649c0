package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// VultrSD is one entry of vultr_sd_configs.
type VultrSD struct {
	// Credentials hold the key of the API.
	Credentials `yaml:",inline"`
	// Proxy towards the API.
	Proxy `yaml:",inline"`
	// TLSConfig towards the API.
	TLSConfig *TLSConfig `yaml:"tls_config,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval between two requests, and their timeout.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects of the client.
	Redirects `yaml:",inline"`
}

func (c *compiler) vultrSD(in *v1alpha1.VultrSDConfig) (*VultrSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	return &VultrSD{
		Credentials: client.Credentials, Proxy: client.proxy, TLSConfig: client.tls, Port: in.Port,
		RefreshInterval: v1.Duration(in.RefreshInterval), Redirects: client.Redirects,
	}, checkPositive("refreshInterval", in.RefreshInterval)
}
