package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// HTTPSD is one entry of http_sd_configs.
type HTTPSD struct {
	// BasicAuth credentials.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// TLSConfig towards the endpoint.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Proxy towards the endpoint.
	clientconfig.Proxy `yaml:",inline"`
	// OAuth2 credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// Endpoint is the URL to ask.
	Endpoint string `yaml:"url"`
	// RefreshInterval between two requests, and their timeout.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects of the client.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) httpSD(in *v1alpha1.HTTPSDConfig) (*HTTPSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	return &HTTPSD{
		BasicAuth: client.BasicAuth, Authorization: client.Authorization, TLSConfig: client.TLS, Proxy: client.Proxy,
		OAuth2: client.OAuth2, Endpoint: in.URL, RefreshInterval: in.RefreshInterval, Redirects: client.Redirects,
	}, first(checkURL("url", in.URL), checkPositive("refreshInterval", in.RefreshInterval))
}
