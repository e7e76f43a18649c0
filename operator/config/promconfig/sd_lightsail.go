package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// LightsailSD is one entry of lightsail_sd_configs.
type LightsailSD struct {
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// OAuth2 holds OAuth 2.0 client credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// Region is the region to search.
	Region string `yaml:"region,omitempty"`
	// Endpoint is the URL of the API.
	Endpoint string `yaml:"endpoint,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// AccessKey is the AWS access key ID.
	AccessKey string `yaml:"access_key,omitempty"`
	// SecretKey is the AWS secret access key.
	SecretKey string `yaml:"secret_key,omitempty"`
	// RoleARN is the ARN of the role to assume.
	RoleARN string `yaml:"role_arn,omitempty"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) lightsailSD(in *v1alpha1.LightSailSDConfig) (*LightsailSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	access, secret, err := c.pair(in.AccessKey, in.SecretKey)
	if err != nil {
		return nil, err
	}
	region, err := c.region(in.Region)
	return &LightsailSD{
		BasicAuth: client.BasicAuth, Authorization: client.Authorization, Proxy: client.Proxy, OAuth2: client.OAuth2, Region: region,
		Endpoint: in.Endpoint, Port: in.Port, RefreshInterval: in.RefreshInterval, AccessKey: access, SecretKey: secret, RoleARN: in.RoleARN,
		TLSConfig: client.TLS, Redirects: client.Redirects,
	}, first(checkRefresh(in.RefreshInterval), err)
}
