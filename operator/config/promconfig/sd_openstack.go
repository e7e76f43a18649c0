package promconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// OpenStackSD is one entry of openstack_sd_configs.
type OpenStackSD struct {
	// Role is instance, hypervisor or loadbalancer.
	Role string `yaml:"role"`
	// Region is the region to search.
	Region string `yaml:"region"`
	// IdentityEndpoint is a URL. If empty, it is read from the container's environment.
	IdentityEndpoint string `yaml:"identity_endpoint,omitempty"`
	// Username of the user.
	Username string `yaml:"username,omitempty"`
	// UserID of the user.
	UserID string `yaml:"userid,omitempty"`
	// Password of the user.
	Password string `yaml:"password,omitempty"`
	// DomainName of the user's domain.
	DomainName string `yaml:"domain_name,omitempty"`
	// DomainID of the user's domain.
	DomainID string `yaml:"domain_id,omitempty"`
	// ProjectName of the project.
	ProjectName string `yaml:"project_name,omitempty"`
	// ProjectID of the project.
	ProjectID string `yaml:"project_id,omitempty"`
	// ApplicationCredentialName is used instead of a password.
	ApplicationCredentialName string `yaml:"application_credential_name,omitempty"`
	// ApplicationCredentialID is used instead of a password.
	ApplicationCredentialID string `yaml:"application_credential_id,omitempty"`
	// ApplicationCredentialSecret of the application credential.
	ApplicationCredentialSecret string `yaml:"application_credential_secret,omitempty"`
	// AllTenants lists instances of all projects.
	AllTenants *bool `yaml:"all_tenants,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// Availability of the endpoint: public, admin or internal.
	Availability string `yaml:"availability,omitempty" since:"2.20.0"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
}

func (c *compiler) openStackSD(in *v1alpha1.OpenStackSDConfig) (*OpenStackSD, error) {
	if in.Role == v1alpha1.OpenStackRoleLoadBalancer {
		if err := c.sinceValue("role", string(in.Role), "3.2.0"); err != nil {
			return nil, err
		}
	}
	password, err := c.value("password", in.Password)
	if err != nil {
		return nil, err
	}
	secret, err := c.value("applicationCredentialSecret", in.ApplicationCredentialSecret)
	if err != nil {
		return nil, err
	}
	tls, err := c.own.TLS(clientconfig.FullTLS(in.TLSConfig))
	if err != nil {
		return nil, faults.At("tlsConfig", err)
	}
	return &OpenStackSD{
		Role: lower(in.Role), Region: in.Region, IdentityEndpoint: in.IdentityEndpoint, Username: in.Username, UserID: in.UserID,
		Password: password, DomainName: in.DomainName, DomainID: in.DomainID, ProjectName: in.ProjectName, ProjectID: in.ProjectID,
		ApplicationCredentialName: in.ApplicationCredentialName, ApplicationCredentialID: in.ApplicationCredentialID,
		ApplicationCredentialSecret: secret, AllTenants: in.AllTenants, RefreshInterval: in.RefreshInterval, Port: in.Port,
		Availability: lower(in.Availability), TLSConfig: tls,
	}, checkRefresh(in.RefreshInterval)
}
