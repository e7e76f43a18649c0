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
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// DatacenterID is the ID of the data center.
	DatacenterID string `yaml:"datacenter_id"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
}

// ionosSD converts an entry. The API requires authorization even if oauth2 is used
// instead. In that case, authorization must be valid, but is not written.
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
	}, checkRefresh(in.RefreshInterval)
}
