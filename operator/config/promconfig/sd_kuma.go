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
	// Proxy towards the control plane.
	clientconfig.Proxy `yaml:",inline"`
	// Server is the URL of the control plane.
	Server string `yaml:"server"`
	// Redirects of the client.
	clientconfig.Redirects `yaml:",inline"`
	// TLSConfig towards the control plane.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// RefreshInterval between two requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// FetchTimeout of a request that waits for changes.
	FetchTimeout v1.Duration `yaml:"fetch_timeout,omitempty"`
	// ClientID to present.
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
	}, first(checkURL("server", in.Server), checkPositive("refreshInterval", in.RefreshInterval), checkDuration("fetchTimeout", in.FetchTimeout))
}
