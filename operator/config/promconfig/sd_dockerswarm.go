package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// DockerSwarmSD is one entry of dockerswarm_sd_configs.
type DockerSwarmSD struct {
	// Credentials for the daemon.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the daemon.
	clientconfig.Proxy `yaml:",inline"`
	// Filters of the API, by name.
	Filters []SDFilter `yaml:"filters,omitempty"`
	// Host is the URL of the daemon.
	Host string `yaml:"host"`
	// TLSConfig is used for connections to the daemon.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Role is services, tasks or nodes.
	Role string `yaml:"role"`
	// Port to scrape if none is published.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) dockerSwarmSD(in *v1alpha1.DockerSwarmSDConfig) (*DockerSwarmSD, error) {
	if err := checkDaemon(in.Host); err != nil {
		return nil, err
	}
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	filters, err := sdFilters(in.Filters)
	if err != nil {
		return nil, err
	}
	return &DockerSwarmSD{
		Credentials: client.Credentials, Proxy: client.Proxy, Filters: filters, Host: in.Host, TLSConfig: client.TLS, Role: lower(in.Role),
		Port: in.Port, RefreshInterval: in.RefreshInterval, Redirects: client.Redirects,
	}, checkRefresh(in.RefreshInterval)
}
