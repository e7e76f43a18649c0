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
	// Proxy towards the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig towards the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Region to look in.
	Region string `yaml:"region,omitempty"`
	// AccessKey of the API, not secret.
	AccessKey string `yaml:"access_key"`
	// SecretKey of the API.
	SecretKey string `yaml:"secret_key"`
	// Endpoint is the URL of the API.
	Endpoint string `yaml:"endpoint,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval between two requests, and their timeout.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects of the client.
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
	}, first(checkOptionalURL("endpoint", in.Endpoint), checkPositive("refreshInterval", in.RefreshInterval))
}
