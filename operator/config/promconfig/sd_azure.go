package promconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// AzureSD is one entry of azure_sd_configs.
type AzureSD struct {
	// Credentials for the API; the HTTP client options are newer than the mechanism.
	clientconfig.Credentials `yaml:",inline" since:"2.31.0"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline" since:"2.31.0"`
	// Environment is the name of the cloud.
	Environment string `yaml:"environment,omitempty"`
	// AuthenticationMethod is OAuth when empty.
	AuthenticationMethod string `yaml:"authentication_method,omitempty"`
	// SubscriptionID of the subscription.
	SubscriptionID string `yaml:"subscription_id"`
	// TenantID of the directory.
	TenantID string `yaml:"tenant_id,omitempty"`
	// ClientID of the application.
	ClientID string `yaml:"client_id,omitempty"`
	// ClientSecret of the application; for OAuth only.
	ClientSecret string `yaml:"client_secret,omitempty"`
	// ResourceGroup is the resource group to search.
	ResourceGroup string `yaml:"resource_group,omitempty" since:"2.35.0" reject:"resourceGroup"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty" since:"2.31.0"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline" since:"2.31.0"`
}

// azureSince holds the first version that supports each authentication method.
var azureSince = map[v1alpha1.AzureAuthenticationMethod]string{
	v1alpha1.AuthMethodTypeSDK:              "2.52.0",
	v1alpha1.AuthMethodTypeWorkloadIdentity: "3.11.0",
}

func (c *compiler) azureSD(in *v1alpha1.AzureSDConfig) (*AzureSD, error) {
	if version := azureSince[in.AuthenticationMethod]; version != "" {
		if err := c.sinceValue("authenticationMethod", string(in.AuthenticationMethod), version); err != nil {
			return nil, err
		}
	}
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	secret, err := c.azureSecret(in)
	if err != nil {
		return nil, err
	}
	return &AzureSD{
		Credentials: client.Credentials, Proxy: client.Proxy, Environment: in.Environment, AuthenticationMethod: string(in.AuthenticationMethod),
		SubscriptionID: in.SubscriptionID, TenantID: in.TenantID, ClientID: in.ClientID, ClientSecret: secret, ResourceGroup: in.ResourceGroup,
		RefreshInterval: in.RefreshInterval, Port: in.Port, TLSConfig: client.TLS, Redirects: client.Redirects,
	}, checkRefresh(in.RefreshInterval)
}

// azureSecret returns the client secret. OAuth, the default, requires a tenant, a client
// and its secret; the other methods ignore the secret.
func (c *compiler) azureSecret(in *v1alpha1.AzureSDConfig) (string, error) {
	if m := in.AuthenticationMethod; m != "" && m != v1alpha1.AuthMethodTypeOAuth {
		return "", nil
	}
	missing := errors.New("is needed for OAuth")
	switch {
	case in.TenantID == "":
		return "", faults.At("tenantID", missing)
	case in.ClientID == "":
		return "", faults.At("clientID", missing)
	case in.ClientSecret == nil:
		return "", faults.At("clientSecret", missing)
	}
	return c.needed("clientSecret", *in.ClientSecret)
}
