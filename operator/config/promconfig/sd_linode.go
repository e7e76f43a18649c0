package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// LinodeSD is one entry of linode_sd_configs.
type LinodeSD struct {
	// Tokens for the API.
	clientconfig.Tokens `yaml:",inline"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// Region is the region to search.
	Region string `yaml:"region,omitempty" since:"2.52.0" reject:"region"`
	// EnableHTTP2 enables HTTP/2 for connections to the API.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
	// TagSeparator joins tags into one label.
	TagSeparator string `yaml:"tag_separator,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// FollowRedirects enables following HTTP redirects.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
}

func (c *compiler) linodeSD(in *v1alpha1.LinodeSDConfig) (*LinodeSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, v1alpha1.HTTPCredentials{Authorization: in.Authorization, OAuth2: in.OAuth2})
	if err != nil {
		return nil, err
	}
	return &LinodeSD{
		Tokens: client.Tokens, Proxy: client.Proxy, TLSConfig: client.TLS, Port: in.Port, Region: in.Region,
		EnableHTTP2: client.EnableHTTP2, TagSeparator: in.TagSeparator, RefreshInterval: in.RefreshInterval, FollowRedirects: client.FollowRedirects,
	}, checkRefresh(in.RefreshInterval)
}
