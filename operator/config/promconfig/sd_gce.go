package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// GCESD is one entry of gce_sd_configs. Credentials come from the environment of the container.
type GCESD struct {
	// Project is the project to search.
	Project string `yaml:"project"`
	// Zone is the zone to search.
	Zone string `yaml:"zone"`
	// Filter of the API.
	Filter string `yaml:"filter,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
	// Port to scrape.
	Port *int32 `yaml:"port,omitempty"`
	// TagSeparator joins tags into one label.
	TagSeparator string `yaml:"tag_separator,omitempty"`
}

func (c *compiler) gceSD(in *v1alpha1.GCESDConfig) (*GCESD, error) {
	return &GCESD{
		Project: in.Project, Zone: in.Zone, Filter: in.Filter, RefreshInterval: in.RefreshInterval, Port: in.Port, TagSeparator: in.TagSeparator,
	}, checkRefresh(in.RefreshInterval)
}
