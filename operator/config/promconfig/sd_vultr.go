package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// VultrSD is one entry of vultr_sd_configs.
type VultrSD struct {
	// Credentials contain the API key.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests, and their timeout.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects are options of the HTTP client.
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
	}, checkRefresh(in.RefreshInterval)
}
