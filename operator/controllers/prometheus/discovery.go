package prometheus

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// readDiscoveryCA reads the CA of the discovery service if pods of the workload need it. Without it,
// the Secret with the CA stays as it is.
func (in *Inputs) readDiscoveryCA() {
	if in.options.DiscoveryCA == nil {
		return
	}
	if in.builder().CentralDiscovery() {
		in.DiscoveryCA, in.noCA = in.options.DiscoveryCA()
	}
}

// outside are the CA of the discovery service and its decisions, which change without an event; nil without both.
func (f *family) outside() *engine.Outside {
	if f.DiscoveryCA == nil && f.Scaling == nil {
		return nil
	}
	return &engine.Outside{
		Version: func() string {
			var out []any
			if f.DiscoveryCA != nil {
				text, err := f.DiscoveryCA()
				out = append(out, string(text), err)
			}
			if f.Scaling != nil {
				all, err := f.Scaling()
				read, _ := all.Encode() // one that cannot be encoded was not read
				out = append(out, string(read), err)
			}
			return fmt.Sprint(out...)
		},
		Reads: func(w v1.Workload) bool {
			return workloadOf(w).builder(f.Workload).CentralDiscovery()
		},
	}
}

// discoveryWarnings adds warnings about central discovery.
func (plan *Plan) discoveryWarnings(b *promworkload.Builder, in *Inputs) {
	if in.noCA != nil {
		plan.Warnings = append(plan.Warnings, faults.Remark("", "the CA of the discovery service in Secret %s is not updated: %v", b.DiscoveryCASecretName(), in.noCA))
	}
	annotation, ignored := b.IgnoredAnnotation()
	if ignored == "" {
		return
	}
	remark := faults.Remark(faults.Key("metadata.annotations", annotation), "%s", ignored)
	plan.Warnings = append(plan.Warnings, remark)
	if plan.Reason == "" {
		plan.Reason, plan.Message = engine.ReasonAnnotationIgnored, remark.String()
	}
}
