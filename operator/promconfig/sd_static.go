package promconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// StaticSD is one entry of static_configs.
type StaticSD struct {
	// Targets are addresses in the user's order.
	Targets []string `yaml:"targets"`
	// Labels of the targets.
	Labels map[string]string `yaml:"labels"`
}

func (c *compiler) staticSD(in *v1alpha1.StaticConfig) (*StaticSD, error) {
	// The server looks at the version only here, not at the owner's scheme.
	rules := rulesFor(c.s.target, "")
	for _, name := range slices.Sorted(maps.Keys(in.Labels)) {
		if !rules.validLabelName(name) {
			return nil, at("labels", fmt.Errorf("%q is not a valid label name for the version", name))
		}
	}
	if slices.Contains(in.Targets, "") {
		return nil, at("targets", errors.New("one of them is empty"))
	}
	return &StaticSD{Targets: in.Targets, Labels: in.Labels}, nil
}
