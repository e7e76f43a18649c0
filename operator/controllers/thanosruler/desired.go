package thanosruler

import (
	"io"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Desired implements [engine.Inputs]. Rules and the files of the server come before the
// objects that run the pods.
func (in *inputs) Desired() (engine.Plan, error) {
	o := in.owner
	plan := engine.Plan{}
	var wrong faults.List
	wrong.Add("", o.Check())
	wrong.Add("", in.alertFaults)
	if wrong.Any() {
		return plan, wrong.Err()
	}
	writes := in.plan.Writes(in.buckets, o.RuleConfigMapMeta)
	plan.Content = slices.Concat(writes.Giving, writes.Taking)
	plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: o.ConfigSecret(in.remoteWrite.YAML)})
	set := in.live.StatefulSets[o.PrefixedName()]
	pod := Inputs{
		RuleConfigMaps: o.GrowRuleConfigMaps(in.plan.Names, set), TLSSecrets: plan.PutTLSAssets(o.Base, in.remoteWrite.Files, in.live), RemoteWrite: in.remoteWrite.YAML,
	}
	web, err := o.WebConfigSecret()
	if err != nil {
		return plan, err
	}
	plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: web})
	plan.Hash = plan.ContentHash(nil, in.rules.EachSum())
	plan.Delivered = delivery.Content{Dirs: rules.Digests(o.Kind.RulesDir, writes.Files, in.rules.Sums())}
	plan.Plain = []engine.Plain{{Part: engine.ConfigPart, Text: func(w io.Writer) error {
		_, err := w.Write(in.remoteWrite.YAML)
		return err
	}}}

	plan.PutService(o, in.live, func(w v1.Workload) workload.ServiceUser { return ForRuler(w.(*v1.ThanosRuler), o.Config) })
	if pod.Hash, err = o.InputHash(set, pod); err != nil {
		return plan, err
	}
	sts, err := o.StatefulSet(pod)
	if err != nil {
		return plan, err
	}
	plan.PutSet(o.Base, sts, in.live)
	in.remark(&plan)
	return plan, nil
}

// remark adds the warnings that a user should see although nothing failed.
func (in *inputs) remark(plan *engine.Plan) {
	plan.Dropped = append(in.owner.Dropped(), in.remoteWrite.Dropped...)
	plan.Warnings = append(plan.Warnings, in.owner.Warnings()...)
	if len(in.ruler.Spec.PrometheusRulesExcludedFromEnforce) > 0 {
		plan.Reason = engine.ReasonDeprecated
		plan.Message = "spec.prometheusRulesExcludedFromEnforce is deprecated, use spec.excludedFromEnforcement"
	}
	if text := share.Message(in.left, "let several ThanosRuler objects select the rules (by labels or namespaces)"); text != "" {
		plan.Reason, plan.Message = engine.ReasonLeftOut, text
	}
}
