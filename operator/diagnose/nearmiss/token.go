package nearmiss

import (
	"fmt"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Tokenless returns a hint if the pods of a workload have no token with which the server discovers the targets of a use.
func Tokenless(w v1.Workload, uses []Use) []Hint {
	const field = "spec.automountServiceAccountToken"
	f := v1alpha1.CommonFields(w)
	if f == nil || f.AutomountServiceAccountToken == nil || *f.AutomountServiceAccountToken || len(f.Volumes) > 0 {
		return nil
	}
	for _, u := range uses {
		for i := range u.Searches {
			if s := &u.Searches[i]; s.usesKubernetes() && s.By != wellknown.CentralDiscovery {
				return []Hint{{Code: Permission, Field: field, Message: fmt.Sprintf("is false, so the pods have no token, without which the API server does not tell what %s looks for: remove it, or mount a token with volumes and volumeMounts", u)}}
			}
		}
	}
	return nil
}
