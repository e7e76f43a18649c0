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
	// Proxy towards the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig towards the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// Region to look in.
	Region string `yaml:"region,omitempty" since:"2.52.0" reject:"region"`
	// EnableHTTP2 towards the API.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
	// TagSeparator joins tags into one label.
	TagSeparator string `yaml:"tag_separator,omitempty"`
	// RefreshInterval between two requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// FollowRedirects of the API.
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
	}, checkPositive("refreshInterval", in.RefreshInterval)
}
