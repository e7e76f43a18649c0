package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// HetznerSD is one entry of hetzner_sd_configs.
type HetznerSD struct {
	// Credentials are a token for hcloud, or user name and password for robot.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// Role is hcloud or robot.
	Role string `yaml:"role"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// LabelSelector is a label selector of the cloud API.
	LabelSelector string `yaml:"label_selector,omitempty" since:"3.5.0" reject:"labelSelector"`
}

func (c *compiler) hetznerSD(in *v1alpha1.HetznerSDConfig) (*HetznerSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	return &HetznerSD{
		Credentials: client.Credentials, Proxy: client.Proxy, Role: lower(in.Role), Redirects: client.Redirects, TLSConfig: client.TLS,
		Port: in.Port, RefreshInterval: in.RefreshInterval, LabelSelector: in.LabelSelector,
	}, checkRefresh(in.RefreshInterval)
}
