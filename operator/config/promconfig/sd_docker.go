package promconfig

import (
	"errors"
	"net/url"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// DockerSD is one entry of docker_sd_configs.
type DockerSD struct {
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// OAuth2 holds OAuth 2.0 client credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// Proxy is used for connections to the daemon.
	clientconfig.Proxy `yaml:",inline"`
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// Filters of the API, by name.
	Filters []SDFilter `yaml:"filters,omitempty"`
	// Host is the URL of the daemon.
	Host string `yaml:"host"`
	// TLSConfig is used for connections to the daemon.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Port to scrape if a container does not publish any.
	Port *int32 `yaml:"port,omitempty"`
	// HostNetworkingHost is the address for containers with host networking.
	HostNetworkingHost string `yaml:"host_networking_host,omitempty"`
	// MatchFirstNetwork uses only the first network of a container with several networks.
	// The previous release supports the key but may crash with it.
	MatchFirstNetwork *bool `yaml:"match_first_network,omitempty" since:"2.54.1" reject:"matchFirstNetwork"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) dockerSD(in *v1alpha1.DockerSDConfig) (*DockerSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	filters, err := sdFilters(in.Filters)
	if err != nil {
		return nil, err
	}
	return &DockerSD{
		Authorization: client.Authorization, OAuth2: client.OAuth2, Proxy: client.Proxy, BasicAuth: client.BasicAuth, Filters: filters,
		Host: in.Host, TLSConfig: client.TLS, Port: in.Port, HostNetworkingHost: in.HostNetworkingHost, MatchFirstNetwork: in.MatchFirstNetwork,
		RefreshInterval: in.RefreshInterval, Redirects: client.Redirects,
	}, first(checkDaemon(in.Host), checkRefresh(in.RefreshInterval))
}

// checkDaemon rejects anything but a URL. Any scheme is allowed, such as unix:///socket.
func checkDaemon(host string) error {
	if u, err := url.Parse(host); err != nil || u.Scheme == "" {
		return faults.At("host", errors.New("is not a URL"))
	}
	return nil
}
