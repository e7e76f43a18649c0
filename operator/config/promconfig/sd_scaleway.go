package promconfig

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// ScalewaySD is one entry of scaleway_sd_configs.
type ScalewaySD struct {
	// AccessKey is the access key of the API; not secret.
	AccessKey string `yaml:"access_key"`
	// SecretKey is the secret key of the API.
	SecretKey string `yaml:"secret_key"`
	// ProjectID of the project.
	ProjectID string `yaml:"project_id"`
	// Role is instance or baremetal.
	Role string `yaml:"role"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// APIURL is the URL of the API.
	APIURL string `yaml:"api_url,omitempty"`
	// Zone is the zone to search.
	Zone string `yaml:"zone,omitempty"`
	// NameFilter selects machines by name.
	NameFilter string `yaml:"name_filter,omitempty"`
	// TagsFilter selects machines by tags.
	TagsFilter []string `yaml:"tags_filter,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
}

// Formats that the server requires when it loads the document.
var (
	scalewayAccessKey = lazyregexp.New(`^SCW[A-Z0-9]{17}$`)
	scalewayUUID      = lazyregexp.New(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	scalewayZone      = lazyregexp.New(`^[a-z]{2}-[a-z]{3,7}-[0-9]{1,2}$`)
)

func (c *compiler) scalewaySD(in *v1alpha1.ScalewaySDConfig) (*ScalewaySD, error) {
	secret, err := c.needed("secretKey", in.SecretKey)
	if err != nil {
		return nil, err
	}
	_, urlErr := url.Parse(in.APIURL)
	switch {
	case !scalewayAccessKey.MatchString(in.AccessKey):
		return nil, faults.At("accessKey", errors.New("the value is not SCW and 17 capital letters or digits"))
	case !scalewayUUID.MatchString(secret):
		return nil, faults.At("secretKey", errors.New("the value is not a UUID"))
	case !scalewayUUID.MatchString(in.ProjectID):
		return nil, faults.At("projectID", fmt.Errorf("%q is not a UUID", in.ProjectID))
	case in.Zone != "" && !scalewayZone.MatchString(in.Zone):
		return nil, faults.At("zone", fmt.Errorf("%q is not of the form fr-par-1", in.Zone))
	case urlErr != nil:
		return nil, faults.At("apiURL", errors.New("is not a URL"))
	}
	client, err := c.sdClient(&in.HTTPTransport, v1alpha1.HTTPCredentials{})
	if err != nil {
		return nil, err
	}
	return &ScalewaySD{
		AccessKey: in.AccessKey, SecretKey: secret, ProjectID: in.ProjectID, Role: lower(in.Role), Port: in.Port, APIURL: in.APIURL, Zone: in.Zone,
		NameFilter: in.NameFilter, TagsFilter: in.TagsFilter, RefreshInterval: in.RefreshInterval, Proxy: client.Proxy, TLSConfig: client.TLS,
		Redirects: client.Redirects,
	}, checkRefresh(in.RefreshInterval)
}
