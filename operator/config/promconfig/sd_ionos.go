package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// IonosSD is one entry of ionos_sd_configs.
type IonosSD struct {
	// Tokens for the API.
	clientconfig.Tokens `yaml:",inline"`
	// Proxy towards the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig towards the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// DatacenterID of the data center.
	DatacenterID string `yaml:"datacenter_id"`
	// Redirects of the client.
	clientconfig.Redirects `yaml:",inline"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval between two requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
}

// ionosSD: the API demands authorization even where oauth2 takes its place; it
// must make sense then, but is not written.
func (c *compiler) ionosSD(in *v1alpha1.IonosSDConfig) (*IonosSD, error) {
	use := v1alpha1.HTTPCredentials{Authorization: &in.Authorization}
	if in.OAuth2 != nil {
		if _, err := c.sdClient(&v1alpha1.HTTPTransport{}, use); err != nil {
			return nil, err
		}
		use = v1alpha1.HTTPCredentials{OAuth2: in.OAuth2}
	}
	client, err := c.sdClient(&in.HTTPTransport, use)
	if err != nil {
		return nil, err
	}
	return &IonosSD{
		Tokens: client.Tokens, Proxy: client.Proxy, TLSConfig: client.TLS, DatacenterID: in.DatacenterID, Redirects: client.Redirects,
		Port: in.Port, RefreshInterval: in.RefreshInterval,
	}, checkPositive("refreshInterval", in.RefreshInterval)
}
