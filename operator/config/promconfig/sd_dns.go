package promconfig

import (
	"errors"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// DNSSD is one entry of dns_sd_configs.
type DNSSD struct {
	// Names are the names to look up.
	Names []string `yaml:"names"`
	// RefreshInterval is the interval between lookups.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Type is the type of the records, SRV if empty.
	Type string `yaml:"type,omitempty"`
	// Port to scrape, except for SRV records, which contain a port.
	Port *int32 `yaml:"port,omitempty"`
}

// recordsSince holds the first version that supports a type. Older servers would look up
// SRV records instead, so the object is rejected.
var recordsSince = map[v1alpha1.DNSRecordType]string{
	v1alpha1.DNSRecordTypeMX: "2.38.0",
	v1alpha1.DNSRecordTypeNS: "2.49.0",
}

func (c *compiler) dnsSD(in *v1alpha1.DNSSDConfig) (*DNSSD, error) {
	if version := recordsSince[in.Type]; version != "" {
		if err := c.sinceValue("type", string(in.Type), version); err != nil {
			return nil, err
		}
	}
	hasPort := in.Type == "" || in.Type == v1alpha1.DNSRecordTypeSRV || in.Port != nil && *in.Port != 0
	if !hasPort {
		return nil, faults.At("port", fmt.Errorf("records of type %q need one", in.Type))
	}
	if len(in.Names) == 0 {
		return nil, faults.At("names", errors.New("is empty"))
	}
	return &DNSSD{Names: in.Names, RefreshInterval: in.RefreshInterval, Type: string(in.Type), Port: in.Port},
		checkRefresh(in.RefreshInterval)
}
