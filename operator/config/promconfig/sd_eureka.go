package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// EurekaSD is one entry of eureka_sd_configs.
type EurekaSD struct {
	// Credentials for the registry.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the registry.
	clientconfig.Proxy `yaml:",inline"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
	// TLSConfig is used for connections to the registry.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Server is the URL of the registry.
	Server string `yaml:"server"`
}

func (c *compiler) eurekaSD(in *v1alpha1.EurekaSDConfig) (*EurekaSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	return &EurekaSD{
		Credentials: client.Credentials, Proxy: client.Proxy, Redirects: client.Redirects, TLSConfig: client.TLS,
		RefreshInterval: in.RefreshInterval, Server: in.Server,
	}, first(checkURL("server", in.Server), checkRefresh(in.RefreshInterval))
}
