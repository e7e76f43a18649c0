package promconfig

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// ZooKeeperSD is one entry of serverset_sd_configs or nerve_sd_configs.
type ZooKeeperSD struct {
	// Servers are of the form host or host:port.
	Servers []string `yaml:"servers"`
	// Paths are watched recursively.
	Paths []string `yaml:"paths"`
	// Timeout is the session timeout.
	Timeout v1.Duration `yaml:"timeout,omitempty"`
}

func (c *compiler) serversetSD(in *v1alpha1.ServersetSDConfig) (*ZooKeeperSD, error) {
	return zooKeeperSD(&in.ZooKeeperWatch)
}

func (c *compiler) nerveSD(in *v1alpha1.NerveSDConfig) (*ZooKeeperSD, error) {
	return zooKeeperSD(&in.ZooKeeperWatch)
}

func zooKeeperSD(in *v1alpha1.ZooKeeperWatch) (*ZooKeeperSD, error) {
	switch {
	case len(in.Servers) == 0:
		return nil, faults.At("servers", errors.New("is empty"))
	case len(in.Paths) == 0:
		return nil, faults.At("paths", errors.New("is empty"))
	}
	for i, path := range in.Paths {
		if !strings.HasPrefix(path, "/") {
			return nil, faults.At(fmt.Sprintf("paths[%d]", i), fmt.Errorf("%q does not begin with a slash", path))
		}
	}
	return &ZooKeeperSD{Servers: in.Servers, Paths: in.Paths, Timeout: v1.Duration(in.Timeout)}, checkPositive("timeout", in.Timeout)
}
