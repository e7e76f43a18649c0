package promconfig

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// MarathonSD is one entry of marathon_sd_configs.
type MarathonSD struct {
	// Credentials for the servers.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the servers.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the servers.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Servers are URLs without a trailing slash.
	Servers []string `yaml:"servers"`
	// AuthToken is sent as "Authorization: token=...".
	AuthToken string `yaml:"auth_token,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Redirects are options of the HTTP client. The server always follows redirects.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) marathonSD(in *v1alpha1.MarathonSDConfig) (*MarathonSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials, way("authToken", in.AuthToken != nil))
	if err != nil {
		return nil, err
	}
	token, err := c.value("authToken", in.AuthToken)
	if err != nil {
		return nil, err
	}
	if len(in.Servers) == 0 {
		return nil, faults.At("servers", errors.New("is empty"))
	}
	for i, server := range in.Servers {
		field := fmt.Sprintf("servers[%d]", i)
		if err := checkURL(field, server); err != nil {
			return nil, err
		}
		if strings.HasSuffix(server, "/") {
			return nil, faults.At(field, errors.New("ends with a slash, but the path of the API is appended as it is"))
		}
	}
	return &MarathonSD{
		Credentials: client.Credentials, Proxy: client.Proxy, TLSConfig: client.TLS, Servers: in.Servers, AuthToken: token,
		RefreshInterval: v1.Duration(in.RefreshInterval), Redirects: client.Redirects,
	}, checkRefresh(in.RefreshInterval)
}
