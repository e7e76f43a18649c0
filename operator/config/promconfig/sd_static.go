package promconfig

import (
	"errors"
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// StaticSD is one entry of static_configs.
type StaticSD struct {
	// Targets are addresses in the user's order.
	Targets []string `yaml:"targets"`
	// Labels are added to all targets.
	Labels map[string]string `yaml:"labels"`
}

func (c *compiler) staticSD(in *v1alpha1.StaticConfig) (*StaticSD, error) {
	if err := c.checkStaticLabels(in.Labels); err != nil {
		return nil, faults.At("labels", err)
	}
	if slices.Contains(in.Targets, "") {
		return nil, faults.At("targets", errors.New("one of them is empty"))
	}
	return &StaticSD{Targets: in.Targets, Labels: in.Labels}, nil
}

// checkStaticLabels checks label names. The server applies only the rules of the version
// to them, not the workload's scheme.
func (c *compiler) checkStaticLabels(labels map[string]string) error {
	names := namesOf(c.s.target, "")
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !names.plain.valid(name) {
			return invalidName(name)
		}
	}
	return nil
}
