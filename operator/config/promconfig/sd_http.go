package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// HTTPSD is one entry of http_sd_configs.
type HTTPSD struct {
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// TLSConfig is used for connections to the endpoint.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Proxy is used for connections to the endpoint.
	clientconfig.Proxy `yaml:",inline"`
	// OAuth2 holds OAuth 2.0 client credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// Endpoint is the URL to request.
	Endpoint string `yaml:"url"`
	// RefreshInterval is the interval between requests, and their timeout.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects are options of the HTTP client.
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
	}, first(checkURL("url", in.URL), checkRefresh(in.RefreshInterval))
}
