package promconfig

import (
	"errors"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// ConsulSD is one entry of consul_sd_configs.
type ConsulSD struct {
	// Credentials for the agent.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy towards the agent.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig towards the agent.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Server is host or host:port of the agent.
	Server string `yaml:"server"`
	// PathPrefix of the API.
	PathPrefix string `yaml:"path_prefix,omitempty" since:"2.45.0" reject:"pathPrefix"`
	// Token of the access control lists.
	Token string `yaml:"token,omitempty"`
	// Datacenter to ask about.
	Datacenter string `yaml:"datacenter,omitempty"`
	// Namespace to ask about.
	Namespace string `yaml:"namespace,omitempty" since:"2.28.0" reject:"namespace"`
	// Partition to ask about.
	Partition string `yaml:"partition,omitempty" since:"2.40.0" reject:"partition"`
	// Scheme is http or https.
	Scheme string `yaml:"scheme,omitempty"`
	// Services to return.
	Services []string `yaml:"services,omitempty"`
	// Tags a service must have.
	Tags []string `yaml:"tags,omitempty"`
	// TagSeparator joins tags into one label.
	TagSeparator string `yaml:"tag_separator,omitempty"`
	// NodeMeta a node must have.
	NodeMeta map[string]string `yaml:"node_meta,omitempty"`
	// Filter of the catalog.
	Filter string `yaml:"filter,omitempty" since:"3.0.0-rc.0" reject:"filter"`
	// HealthFilter of the health checks.
	HealthFilter string `yaml:"health_filter,omitempty" since:"3.11.2" reject:"healthFilter"`
	// AllowStale answers.
	AllowStale *bool `yaml:"allow_stale,omitempty"`
	// RefreshInterval between two requests at least.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects of the client.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) consulSD(in *v1alpha1.ConsulSDConfig) (*ConsulSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	token, err := c.value("tokenRef", in.TokenRef)
	if err != nil {
		return nil, err
	}
	if token != "" && (client.Authorization != nil || client.OAuth2 != nil) {
		return nil, at("tokenRef", errors.New("conflicts with authorization and oauth2"))
	}
	if strings.TrimSpace(in.Server) == "" {
		return nil, at("server", errors.New("is empty"))
	}
	return &ConsulSD{
		Credentials: client.Credentials, Proxy: client.Proxy, TLSConfig: client.TLS, Server: in.Server, PathPrefix: in.PathPrefix,
		Token: token, Datacenter: in.Datacenter, Namespace: in.Namespace, Partition: in.Partition, Scheme: lower(in.Scheme),
		Services: in.Services, Tags: in.Tags, TagSeparator: in.TagSeparator, NodeMeta: in.NodeMeta, Filter: in.Filter,
		HealthFilter: in.HealthFilter, AllowStale: in.AllowStale, RefreshInterval: in.RefreshInterval, Redirects: client.Redirects,
	}, checkPositive("refreshInterval", in.RefreshInterval)
}
