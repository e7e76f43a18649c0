package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// StackitSD is one entry of stackit_sd_configs.
type StackitSD struct {
	// Credentials for the API if no service account is used.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Project is the ID of the project.
	Project string `yaml:"project"`
	// Region of the API.
	Region string `yaml:"region,omitempty"`
	// Endpoint is the URL of the API.
	Endpoint string `yaml:"endpoint,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// ServiceAccountKey is a JSON document.
	ServiceAccountKey string `yaml:"service_account_key,omitempty"`
	// PrivateKey is the private key of the service account in PEM format.
	PrivateKey string `yaml:"private_key,omitempty"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
}

func (c *compiler) stackitSD(in *v1alpha1.StackitSDConfig) (*StackitSD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials, way("serviceAccountKey", in.ServiceAccountKey != nil))
	if err != nil {
		return nil, err
	}
	account, err := c.value("serviceAccountKey", in.ServiceAccountKey)
	if err != nil {
		return nil, err
	}
	private, err := c.value("privateKey", in.PrivateKey)
	if err != nil {
		return nil, err
	}
	return &StackitSD{
		Credentials: client.Credentials, Proxy: client.Proxy, TLSConfig: client.TLS, Project: in.Project, Region: in.Region, Endpoint: in.Endpoint,
		Port: in.Port, RefreshInterval: v1.Duration(in.RefreshInterval), ServiceAccountKey: account, PrivateKey: private, Redirects: client.Redirects,
	}, first(checkOptionalURL("endpoint", in.Endpoint), checkRefresh(in.RefreshInterval))
}
