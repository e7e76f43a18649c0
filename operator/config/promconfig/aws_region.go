package promconfig

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

var errRegion = errors.New("is missing, and the server would ask its machine for it while it loads the configuration of all: " +
	"elsewhere than on AWS it refuses the configuration then; write the region, or set AWS_REGION of container prometheus in the workload")

// region returns the region of an AWS discovery: its own, or that of the server's environment. Prometheus finds a
// missing region in the metadata of its machine, in its own environment, or not at all, depending on its version, and
// waits for the response before it loads anything. So the configuration always contains one.
//
// Errors: there is none.
func (c *compiler) region(own string) (string, error) {
	switch {
	case own != "":
		return own, nil
	case c.s.data.Region != "":
		return c.s.data.Region, nil
	}
	return "", faults.At("region", errRegion)
}

var regionName = lazyregexp.New(`^[a-z0-9-]{1,64}$`)

// regionOf returns the AWS region that the workload sets in the environment of its server, empty if there is none. The SDK
// of AWS reads the variables in this order.
func regionOf(containers []corev1.Container) string {
	set := map[string]string{}
	for _, c := range containers {
		if c.Name != workload.ContainerPrometheus {
			continue
		}
		for _, e := range c.Env {
			set[e.Name] = e.Value
		}
	}
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if regionName.MatchString(set[name]) {
			return set[name]
		}
	}
	return ""
}
