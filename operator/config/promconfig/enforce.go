package promconfig

import v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"

// Resource names of monitors as excludedFromEnforcement spells them.
const (
	serviceMonitors = "servicemonitors"
	podMonitors     = "podmonitors"
	probes          = "probes"
)

// enforcement is the step that pins the namespace label; nil when the owner has
// none or has excluded the object. It is the last step of both lists a user can
// write, as honor_labels or a metric relabeling could undo it otherwise.
func (s *Settings) enforcement(resource, namespace, name string) Step {
	if s.data.EnforcedNamespaceLabel == "" || s.excluded(resource, namespace, name) {
		return nil
	}
	return &copyStep{TargetLabel: s.data.EnforcedNamespaceLabel, Replacement: namespace}
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
