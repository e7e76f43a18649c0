package promconfig

import (
	"errors"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// ConsulSD is one entry of consul_sd_configs.
type ConsulSD struct {
	// Credentials for the agent.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the agent.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the agent.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Server is the host or host:port of the agent.
	Server string `yaml:"server"`
	// PathPrefix is the path prefix of the API.
	PathPrefix string `yaml:"path_prefix,omitempty" since:"2.45.0" reject:"pathPrefix"`
	// Token is the ACL token.
	Token string `yaml:"token,omitempty"`
	// Datacenter is the data center to query.
	Datacenter string `yaml:"datacenter,omitempty"`
	// Namespace is the namespace to query.
	Namespace string `yaml:"namespace,omitempty" since:"2.28.0" reject:"namespace"`
	// Partition is the partition to query.
	Partition string `yaml:"partition,omitempty" since:"2.40.0" reject:"partition"`
	// Scheme is http or https.
	Scheme string `yaml:"scheme,omitempty"`
	// Services are the services to discover; empty for all.
	Services []string `yaml:"services,omitempty"`
	// Tags are the tags that a service must have.
	Tags []string `yaml:"tags,omitempty"`
	// TagSeparator joins tags into one label.
	TagSeparator string `yaml:"tag_separator,omitempty"`
	// NodeMeta is the metadata that a node must have.
	NodeMeta map[string]string `yaml:"node_meta,omitempty"`
	// Filter is a filter expression for the catalog.
	Filter string `yaml:"filter,omitempty" since:"3.0.0-rc.0" reject:"filter"`
	// HealthFilter is a filter expression for health checks.
	HealthFilter string `yaml:"health_filter,omitempty" since:"3.11.2" reject:"healthFilter"`
	// AllowStale allows stale responses.
	AllowStale *bool `yaml:"allow_stale,omitempty"`
	// RefreshInterval is the minimum interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects are options of the HTTP client.
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
		return nil, faults.At("tokenRef", errors.New("conflicts with authorization and oauth2"))
	}
	if strings.TrimSpace(in.Server) == "" {
		return nil, faults.At("server", errors.New("is empty"))
	}
	return &ConsulSD{
		Credentials: client.Credentials, Proxy: client.Proxy, TLSConfig: client.TLS, Server: in.Server, PathPrefix: in.PathPrefix,
		Token: token, Datacenter: in.Datacenter, Namespace: in.Namespace, Partition: in.Partition, Scheme: lower(in.Scheme),
		Services: in.Services, Tags: in.Tags, TagSeparator: in.TagSeparator, NodeMeta: in.NodeMeta, Filter: in.Filter,
		HealthFilter: in.HealthFilter, AllowStale: in.AllowStale, RefreshInterval: in.RefreshInterval, Redirects: client.Redirects,
	}, checkRefresh(in.RefreshInterval)
}
