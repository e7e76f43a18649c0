package promworkload

import (
	"slices"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// checks are the rules for the fields of both kinds, in the order in which they are checked.
var checks = []workload.Check[*Builder]{
	{Field: "spec.shards", Fault: func(b *Builder) error { return v1.CheckShards(b.common.Shards) }},
	{Fault: func(b *Builder) error {
		return workload.CheckUserMounts(b.Base.Kind.Row.Kind, b.common.Secrets, b.common.ConfigMaps)
	}},
}

// serverChecks are the rules for fields of a Prometheus with which the server, or its Thanos sidecar, does not
// start. The API declares the durations as plain strings.
var serverChecks = []workload.Check[*Builder]{
	{Field: "spec.query.lookbackDelta", Fault: workload.Duration(func(b *Builder) v1.Duration {
		text, _ := lookbackDelta(b)
		return v1.Duration(text)
	})},
	{Field: "spec.thanos.grpcServerTlsConfig", Fault: func(b *Builder) error {
		if t := b.thanos(); t != nil {
			return workload.CheckGRPCServer(t.GRPCServerTLSConfig)
		}
		return nil
	}},
	{Field: "spec.rules.alert.forOutageTolerance", Fault: workload.Duration(func(b *Builder) v1.Duration { return v1.Duration(b.ruleAlerts().ForOutageTolerance) })},
	{Field: "spec.rules.alert.forGracePeriod", Fault: workload.Duration(func(b *Builder) v1.Duration { return v1.Duration(b.ruleAlerts().ForGracePeriod) })},
	{Field: "spec.rules.alert.resendDelay", Fault: workload.Duration(func(b *Builder) v1.Duration { return v1.Duration(b.ruleAlerts().ResendDelay) })},
}

// Check returns the faults of the spec that can be detected before a pod is built.
func (b *Builder) Check() error {
	if b.server != nil {
		return workload.CheckSpec(b.Base, slices.Concat(checks, serverChecks), b)
	}
	return workload.CheckSpec(b.Base, checks, b)
}
