package promconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// TritonSD is one entry of triton_sd_configs.
type TritonSD struct {
	// Account is the account used for discovery.
	Account string `yaml:"account"`
	// Role is container or cn; empty for container.
	Role string `yaml:"role,omitempty"`
	// DNSSuffix is appended to the ID of a machine.
	DNSSuffix string `yaml:"dns_suffix"`
	// Endpoint is the host of the API.
	Endpoint string `yaml:"endpoint"`
	// Groups are the groups whose containers are discovered.
	Groups []string `yaml:"groups,omitempty" since:"2.5.0" reject:"groups"`
	// Port is the port of the API and of the targets.
	Port *int32 `yaml:"port,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Version of the API.
	Version *int32 `yaml:"version,omitempty"`
	// TLSConfig contains the client certificate.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
}

func (c *compiler) tritonSD(in *v1alpha1.TritonSDConfig) (*TritonSD, error) {
	if in.Role == v1alpha1.TritonRoleCN {
		if err := c.sinceValue("role", string(in.Role), "2.19.0"); err != nil {
			return nil, err
		}
		if len(in.Groups) > 0 {
			return nil, faults.At("groups", errors.New("are supported only with the role Container"))
		}
	}
	tls, err := c.own.TLS(clientconfig.FullTLS(in.TLSConfig))
	if err != nil {
		return nil, faults.At("tlsConfig", err)
	}
	return &TritonSD{
		Account: in.Account, Role: lower(in.Role), DNSSuffix: in.DNSSuffix, Endpoint: in.Endpoint, Groups: in.Groups, Port: in.Port,
		RefreshInterval: v1.Duration(in.RefreshInterval), Version: in.Version, TLSConfig: tls,
	}, checkRefresh(in.RefreshInterval)
}
