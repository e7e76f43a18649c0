package promconfig

import (
	"errors"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// AWSSD is one entry of aws_sd_configs.
type AWSSD struct {
	// Role is ec2, lightsail, ecs, msk, elasticache or rds.
	Role string `yaml:"role"`
	// Credentials of the HTTP client.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Region is the region to search.
	Region string `yaml:"region,omitempty"`
	// Endpoint is the URL of the API.
	Endpoint string `yaml:"endpoint,omitempty"`
	// AccessKey is the AWS access key ID.
	AccessKey string `yaml:"access_key,omitempty"`
	// SecretKey is the AWS secret access key.
	SecretKey string `yaml:"secret_key,omitempty"`
	// Profile is a profile of the AWS configuration file.
	Profile string `yaml:"profile,omitempty"`
	// RoleARN is the ARN of the role to assume.
	RoleARN string `yaml:"role_arn,omitempty"`
	// ExternalID is used to assume the role.
	ExternalID string `yaml:"external_id,omitempty" since:"3.12.0" reject:"externalID"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Filters of the API, by name.
	Filters []SDFilter `yaml:"filters,omitempty"`
	// Clusters are the clusters to search.
	Clusters []string `yaml:"clusters,omitempty"`
	// Redirects are options of the HTTP client; for this mechanism, nil means false.
	clientconfig.Redirects `yaml:",inline"`
}

// awsRole is the first version that supports a role, and its restrictions.
type awsRole struct {
	since             string
	filters, clusters string // first version that supports them, "" for never
}

var awsRoles = map[v1alpha1.AWSRole]awsRole{
	v1alpha1.AWSRoleEC2:         {since: "3.8.0", filters: "3.8.0"},
	v1alpha1.AWSRoleLightsail:   {since: "3.8.0"},
	v1alpha1.AWSRoleECS:         {since: "3.8.0", clusters: "3.8.0"},
	v1alpha1.AWSRoleMSK:         {since: "3.10.0", clusters: "3.10.0"},
	v1alpha1.AWSRoleElastiCache: {since: "3.11.0", clusters: "3.11.0"},
	v1alpha1.AWSRoleRDS:         {since: "3.11.0", clusters: "3.11.0", filters: "3.13.0"},
}

func (c *compiler) awsSD(in *v1alpha1.AWSSDConfig) (*AWSSD, error) {
	if err := c.checkAWS(in); err != nil {
		return nil, err
	}
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	access, secret, err := c.pair(in.AccessKey, in.SecretKey)
	if err != nil {
		return nil, err
	}
	filters, err := sdFilters(in.Filters)
	if err != nil {
		return nil, err
	}
	region, err := c.region(in.Region)
	out := &AWSSD{
		Role: lower(in.Role), Credentials: client.Credentials, Proxy: client.Proxy, TLSConfig: client.TLS, Region: region, Endpoint: in.Endpoint,
		AccessKey: access, SecretKey: secret, Profile: in.Profile, RoleARN: in.RoleARN, ExternalID: in.ExternalID, Port: in.Port,
		RefreshInterval: v1.Duration(in.RefreshInterval), Filters: filters, Clusters: in.Clusters, Redirects: client.Redirects,
	}
	if out.FollowRedirects == nil {
		out.FollowRedirects = new(true)
	}
	if out.EnableHTTP2 == nil {
		out.EnableHTTP2 = new(true)
	}
	return out, first(checkRefresh(in.RefreshInterval), err)
}

func (c *compiler) checkAWS(in *v1alpha1.AWSSDConfig) error {
	role, known := awsRoles[in.Role]
	switch {
	case !known:
		return faults.At("role", errors.New("is not known"))
	case (in.AccessKey == nil) != (in.SecretKey == nil):
		return errors.New("accessKey and secretKey must be set together")
	case in.ExternalID != "" && in.RoleARN == "":
		return faults.At("externalID", errors.New("needs roleARN"))
	case len(in.Filters) > 0 && role.filters == "":
		return faults.At("filters", errors.New("are supported only with the roles EC2 and RDS"))
	case len(in.Clusters) > 0 && role.clusters == "":
		return faults.At("clusters", errors.New("are supported only with the roles ECS, MSK, ElastiCache and RDS"))
	}
	if err := c.sinceValue("role", string(in.Role), role.since); err != nil {
		return err
	}
	if len(in.Filters) > 0 && !c.s.target.AtLeast(role.filters) {
		return faults.At("filters", fmt.Errorf("need Prometheus >= %s with the role %s", role.filters, in.Role))
	}
	return nil
}
