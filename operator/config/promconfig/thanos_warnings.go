package promconfig

import (
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// thanosWarnings returns warnings about replace steps that check their target label. The
// remote write of the version panics on them, because they have no name validation scheme.
func thanosWarnings(writes []v1.RemoteWriteSpec, t gate.Target) (out []faults.Finding) {
	if !t.AtLeast("thanos=0.41.0") {
		return nil
	}
	for i, write := range writes {
		for j := range write.WriteRelabelConfigs {
			if checksTarget(&write.WriteRelabelConfigs[j]) {
				out = append(out, faults.Remark(fmt.Sprintf("spec.remoteWrite[%d].writeRelabelConfigs[%d]", i, j), "Thanos %s crashes at the first sample to which it applies a replace step; "+
					"only a step that sets a constant value, without sourceLabels and regex, works", t.Version))
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
