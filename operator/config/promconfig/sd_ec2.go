package promconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// EC2SD is one entry of ec2_sd_configs.
type EC2SD struct {
	// Proxy is used for connections to the API. The HTTP client options are newer than the mechanism.
	clientconfig.Proxy `yaml:",inline" since:"2.41.0"`
	// Region is the region to search.
	Region string `yaml:"region,omitempty"`
	// AccessKey is the AWS access key ID.
	AccessKey string `yaml:"access_key,omitempty"`
	// SecretKey is the AWS secret access key.
	SecretKey string `yaml:"secret_key,omitempty"`
	// RoleARN is the ARN of the role to assume.
	RoleARN string `yaml:"role_arn,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// Filters of the API, by name.
	Filters []SDFilter `yaml:"filters,omitempty" since:"2.3.0"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline" since:"2.41.0"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty" since:"2.41.0"`
}

func (c *compiler) ec2SD(in *v1alpha1.EC2SDConfig) (*EC2SD, error) {
	client, err := c.sdClient(&in.HTTPTransport, v1alpha1.HTTPCredentials{})
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
	return &EC2SD{
		Proxy: client.Proxy, Region: region, AccessKey: access, SecretKey: secret, RoleARN: in.RoleARN,
		RefreshInterval: in.RefreshInterval, Port: in.Port, Filters: filters, Redirects: client.Redirects, TLSConfig: client.TLS,
	}, first(checkRefresh(in.RefreshInterval), err)
}

// SDFilter is a filter of a cloud provider's API.
type SDFilter struct {
	// Name of the filter.
	Name string `yaml:"name"`
	// Values are the accepted values.
	Values []string `yaml:"values"`
}

// sdFilters returns the filters sorted by name. The order of values is kept.
func sdFilters(in []v1alpha1.Filter) ([]SDFilter, error) {
	out := make([]SDFilter, len(in))
	for i, f := range in {
		if len(f.Values) == 0 {
			return nil, faults.At(fmt.Sprintf("filters[%d].values", i), errors.New("is empty"))
		}
		out[i] = SDFilter{Name: f.Name, Values: f.Values}
	}
	slices.SortStableFunc(out, func(a, b SDFilter) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
