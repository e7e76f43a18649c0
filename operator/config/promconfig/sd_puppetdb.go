package promconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// PuppetDBSD is one entry of puppetdb_sd_configs.
type PuppetDBSD struct {
	// Credentials for the API.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// Endpoint is the URL of the API.
	Endpoint string `yaml:"url"`
	// Query is written in the Puppet Query Language.
	Query string `yaml:"query"`
	// IncludeParameters adds parameters as labels.
	IncludeParameters *bool `yaml:"include_parameters,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// FollowRedirects enables following HTTP redirects.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// EnableHTTP2 enables HTTP/2 for connections to the API.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
}

func (c *compiler) puppetDBSD(in *v1alpha1.PuppetDBSDConfig) (*PuppetDBSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	if in.Query == "" {
		return nil, faults.At("query", errors.New("is empty"))
	}
	return &PuppetDBSD{
		Credentials: client.Credentials, Proxy: client.Proxy, Endpoint: in.URL, Query: in.Query, IncludeParameters: in.IncludeParameters,
		Port: in.Port, RefreshInterval: in.RefreshInterval, FollowRedirects: client.FollowRedirects, TLSConfig: client.TLS, EnableHTTP2: client.EnableHTTP2,
	}, first(checkURL("url", in.URL), checkRefresh(in.RefreshInterval))
}
