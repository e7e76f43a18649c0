package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// DigitalOceanSD is one entry of digitalocean_sd_configs.
type DigitalOceanSD struct {
	// Tokens for the API.
	clientconfig.Tokens `yaml:",inline"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
}

func (c *compiler) digitalOceanSD(in *v1alpha1.DigitalOceanSDConfig) (*DigitalOceanSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, v1alpha1.HTTPCredentials{Authorization: in.Authorization, OAuth2: in.OAuth2})
	if err != nil {
		return nil, err
	}
	return &DigitalOceanSD{
		Tokens: client.Tokens, Proxy: client.Proxy, Redirects: client.Redirects, TLSConfig: client.TLS,
		Port: in.Port, RefreshInterval: in.RefreshInterval,
	}, checkRefresh(in.RefreshInterval)
}
