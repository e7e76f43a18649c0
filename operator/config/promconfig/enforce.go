package promconfig

import (
	"slices"

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

// Enforces reports whether a workload sets its enforced namespace label on the targets of a monitor.
// resource is the plural of the kind in lower case.
func Enforces(f *v1.CommonPrometheusFields, resource, namespace, name string) bool {
	return f.EnforcedNamespaceLabel != "" && !slices.ContainsFunc(f.ExcludedFromEnforcement, func(e v1.ObjectReference) bool {
		return excludes(e, resource, namespace, name)
	})
}

func (s *Settings) excluded(resource, namespace, name string) bool {
	for _, e := range s.data.ExcludedFromEnforcement {
		if excludes(e, resource, namespace, name) {
			return true
		}
	}
	return false
}

func excludes(e v1.ObjectReference, resource, namespace, name string) bool {
	return e.Namespace != "" && e.Namespace == namespace && e.Resource == resource &&
		(e.Group == "" || e.Group == v1.GroupName) && (e.Name == "" || e.Name == name)
}
