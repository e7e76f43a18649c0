package prometheus

import (
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// readDiscoveryCA reads the CA of the discovery service if pods of the workload need it. Without it,
// the Secret with the CA stays as it is.
func (in *Inputs) readDiscoveryCA() {
	if in.options.DiscoveryCA == nil {
		return
	}
	if central, _ := in.Workload.Builder(in.config()).CentralDiscovery(); central {
		in.DiscoveryCA, in.noCA = in.options.DiscoveryCA()
	}
}

// discoveryNotes adds what a user should see about central discovery.
func (plan *Plan) discoveryNotes(b *promworkload.Builder, in *Inputs) {
	if in.noCA != nil {
		plan.Warnings = append(plan.Warnings, faults.Remark("", "the CA of the discovery service in Secret %s is not updated: %v", b.DiscoveryCASecretName(), in.noCA))
	}
	_, ignored := b.CentralDiscovery()
	if ignored == "" {
		return
	}
	remark := faults.Remark(faults.Key("metadata.annotations", wellknown.AnnotationTargetDiscovery), "%s", ignored)
	plan.Warnings = append(plan.Warnings, remark)
	if plan.Reason == "" {
		plan.Reason, plan.Message = engine.ReasonAnnotationIgnored, remark.String()
	}
}
