package thanosruler

import (
	"fmt"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// crashingReplace are the versions whose remote write panics on a relabel step that
// validates its target label, because the step has no name validation scheme.
var crashingReplace = workload.Versions{Since: "0.41.0"}

// Warnings returns warnings about settings with which the server starts but fails later.
func (b *builder) Warnings() (out []string) {
	if b.Err != nil || !crashingReplace.Has(b.Version) {
		return nil
	}
	for i, write := range b.spec.RemoteWrite {
		for j := range write.WriteRelabelConfigs {
			if checksTarget(&write.WriteRelabelConfigs[j]) {
				out = append(out, fmt.Sprintf("spec.remoteWrite[%d].writeRelabelConfigs[%d]: Thanos %s crashes at the first sample to which it applies a replace step; "+
					"only a step that sets a constant value, without sourceLabels and regex, works", i, j, b.Version))
			}
		}
	}
	return out
}

// checksTarget reports whether a step is a replace that does more than set a label to a
// constant.
func checksTarget(step *v1.RelabelConfig) bool {
	if step.Action != "" && !strings.EqualFold(step.Action, "replace") {
		return false
	}
	constant := step.Replacement != nil && !strings.Contains(*step.Replacement+step.TargetLabel, "$")
	return !constant || len(step.SourceLabels) > 0 || step.Regex != ""
}
