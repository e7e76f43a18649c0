package promconfig

import (
	"errors"
	"net/url"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// DockerSD is one entry of docker_sd_configs.
type DockerSD struct {
	// Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// OAuth2 credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// Proxy towards the daemon.
	clientconfig.Proxy `yaml:",inline"`
	// BasicAuth credentials.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// Filters of the API, by name.
	Filters []SDFilter `yaml:"filters,omitempty"`
	// Host is the URL of the daemon.
	Host string `yaml:"host"`
	// TLSConfig towards the daemon.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Port to scrape where a container publishes none.
	Port *int32 `yaml:"port,omitempty"`
	// HostNetworkingHost is where containers in host networking are scraped.
	HostNetworkingHost string `yaml:"host_networking_host,omitempty"`
	// MatchFirstNetwork makes one target of a container with several networks.
	// The release before has the key and can crash with it.
	MatchFirstNetwork *bool `yaml:"match_first_network,omitempty" since:"2.54.1" reject:"matchFirstNetwork"`
	// RefreshInterval between two requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects of the client.
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
	}, first(checkDaemon(in.Host), checkPositive("refreshInterval", in.RefreshInterval))
}

// checkDaemon refuses what is not a URL of any scheme, such as unix:///socket.
func checkDaemon(host string) error {
	if u, err := url.Parse(host); err != nil || u.Scheme == "" {
		return at("host", errors.New("is not a URL"))
	}
	return nil
}
