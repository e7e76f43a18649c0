package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Resource names of monitors as used in excludedFromEnforcement.
const (
	serviceMonitors = "servicemonitors"
	podMonitors     = "podmonitors"
	probes          = "probes"
)

// enforcement returns the step that sets the enforced namespace label. It returns nil if the
// workload enforces none or excludes the object. It is the last step of both user-supplied
// lists, because honor_labels or a metric relabeling could otherwise override it.
func (s *Settings) enforcement(resource, namespace, name string) Step {
	if s.data.EnforcedNamespaceLabel == "" || s.excluded(resource, namespace, name) {
		return nil
	}
	return &copyStep{TargetLabel: s.data.EnforcedNamespaceLabel, Replacement: namespace}
}

func (s *Settings) excluded(resource, namespace, name string) bool {
	return v1.Names(s.data.ExcludedFromEnforcement, resource, namespace, name)
}
