package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// KumaSD is one entry of kuma_sd_configs.
type KumaSD struct {
	// Credentials for the control plane.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the control plane.
	clientconfig.Proxy `yaml:",inline"`
	// Server is the URL of the control plane.
	Server string `yaml:"server"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
	// TLSConfig is used for connections to the control plane.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// FetchTimeout is the timeout of a long-polling request.
	FetchTimeout v1.Duration `yaml:"fetch_timeout,omitempty"`
	// ClientID identifies the client.
	ClientID string `yaml:"client_id,omitempty" since:"2.50.0" reject:"clientID"`
}

func (c *compiler) kumaSD(in *v1alpha1.KumaSDConfig) (*KumaSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	return &KumaSD{
		Credentials: client.Credentials, Proxy: client.Proxy, Server: in.Server, Redirects: client.Redirects, TLSConfig: client.TLS,
		RefreshInterval: in.RefreshInterval, FetchTimeout: in.FetchTimeout, ClientID: in.ClientID,
	}, first(checkURL("server", in.Server), checkRefresh(in.RefreshInterval), checkDuration("fetchTimeout", in.FetchTimeout))
}
