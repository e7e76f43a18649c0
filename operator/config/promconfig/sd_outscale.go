package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// OutscaleSD is one entry of outscale_sd_configs.
type OutscaleSD struct {
	// Credentials of the HTTP client.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Region is the region to search.
	Region string `yaml:"region,omitempty"`
	// AccessKey is the access key of the API; not secret.
	AccessKey string `yaml:"access_key"`
	// SecretKey is the secret key of the API.
	SecretKey string `yaml:"secret_key"`
	// Endpoint is the URL of the API.
	Endpoint string `yaml:"endpoint,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests, and their timeout.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) outscaleSD(in *v1alpha1.OutscaleSDConfig) (*OutscaleSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	secret, err := c.needed("secretKey", in.SecretKey)
	if err != nil {
		return nil, err
	}
	return &OutscaleSD{
		Credentials: client.Credentials, Proxy: client.Proxy, TLSConfig: client.TLS, Region: in.Region, AccessKey: in.AccessKey, SecretKey: secret,
		Endpoint: in.Endpoint, Port: in.Port, RefreshInterval: v1.Duration(in.RefreshInterval), Redirects: client.Redirects,
	}, first(checkOptionalURL("endpoint", in.Endpoint), checkRefresh(in.RefreshInterval))
}
