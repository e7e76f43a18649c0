package thanosruler

import (
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Desired implements [engine.Inputs]. Rules and the files of the server come before the
// objects that run the pods.
func (in *inputs) Desired() (engine.Plan, error) {
	b, plan := in.builder, engine.Plan{}
	var errs faults.List
	errs.Add("", b.Check())
	errs.Add("", in.alertFaults)
	if errs.Any() {
		return plan, errs.Err()
	}
	web, err := b.WebConfigSecret()
	if err != nil {
		return plan, err
	}
	writes := in.plan.Writes(in.buckets, b.RuleConfigMapMeta, in.rules.Contents)
	plan.Content = slices.Concat(writes.Giving, writes.Taking)
	plan.Put(b.configSecret(in.remoteWrite.YAML))
	pod := workload.PodInputs{
		RuleConfigMaps: b.GrowRuleConfigMaps(in.plan.Names, in.live.StatefulSets[b.PrefixedName()]),
		TLSSecrets:     plan.PutTLSAssets(b.Base, in.remoteWrite.Files, in.live),
		Files:          b.remoteWriteHash(in.remoteWrite.YAML),
	}
	plan.Put(web)
	plan.Hash = plan.ContentHash(nil, in.rules.EachSum())
	plan.Delivered = delivery.Content{Dirs: in.last.Digests(kind.RulesDir, writes.Files)}
	plan.Plain = []engine.Plain{engine.PlainConfig(in.remoteWrite.YAML)}
	if err := plan.PutPods(b, pod, in.live, func(w v1.Workload) workload.ServiceUser { return newBuilder(w.(*v1.ThanosRuler), b.Config) }); err != nil {
		return plan, err
	}
	plan.Dropped = append(b.Dropped(), in.remoteWrite.Dropped...)
	plan.Warnings = append(plan.Warnings, in.remoteWrite.Warnings...)
	plan.Deprecate(engine.Deprecated{
		Field: "spec.prometheusRulesExcludedFromEnforce", Use: "spec.excludedFromEnforcement", Set: len(b.spec.PrometheusRulesExcludedFromEnforce) > 0,
	})
	plan.LeaveOut(in.left, "let several ThanosRuler objects select the rules (by labels or namespaces)")
	return plan, nil
}
