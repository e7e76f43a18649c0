package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// UyuniSD is one entry of uyuni_sd_configs.
type UyuniSD struct {
	// Credentials of the HTTP client.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the server.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the server.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Server is a URL.
	Server string `yaml:"server"`
	// Username of the API.
	Username string `yaml:"username"`
	// Password of the API.
	Password string `yaml:"password"`
	// Entitlement is required of a system.
	Entitlement string `yaml:"entitlement,omitempty"`
	// Separator joins groups into one label.
	Separator string `yaml:"separator,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) uyuniSD(in *v1alpha1.UyuniSDConfig) (*UyuniSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	password, err := c.needed("password", in.Password)
	if err != nil {
		return nil, err
	}
	return &UyuniSD{
		Credentials: client.Credentials, Proxy: client.Proxy, TLSConfig: client.TLS, Server: in.Server, Username: in.Username, Password: password,
		Entitlement: in.Entitlement, Separator: in.Separator, RefreshInterval: v1.Duration(in.RefreshInterval), Redirects: client.Redirects,
	}, first(checkURL("server", in.Server), checkRefresh(in.RefreshInterval))
}
