package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// VultrSD is one entry of vultr_sd_configs.
type VultrSD struct {
	// Credentials hold the key of the API.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy towards the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig towards the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval between two requests, and their timeout.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects of the client.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) vultrSD(in *v1alpha1.VultrSDConfig) (*VultrSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	return &VultrSD{
		Credentials: client.Credentials, Proxy: client.Proxy, TLSConfig: client.TLS, Port: in.Port,
		RefreshInterval: v1.Duration(in.RefreshInterval), Redirects: client.Redirects,
	}, checkPositive("refreshInterval", in.RefreshInterval)
}
