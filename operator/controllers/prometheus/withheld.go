package prometheus

import (
	"iter"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// origin describes the sources of the configuration, for messages and limits.
func (in *Inputs) origin() configsecret.Origin {
	return configsecret.Origin{
		Objects: "monitors",
		Divide:  "let several Prometheus objects select the monitors and rules (by labels or namespaces); spec.shards does not help, because every shard has the whole configuration",
		Each:    in.sources(),
		Rules:   in.ruleSources(),
	}
}

func (in *Inputs) sources() iter.Seq[configsecret.Source] {
	return func(yield func(configsecret.Source) bool) {
		for m := range in.Monitors.All() {
			if m.Err != nil {
				continue
			}
			if !yield(configsecret.Source{
				Kind: m.Kind, Namespace: m.Object.GetNamespace(), Name: m.Object.GetName(), Bytes: m.Piece.Rendered(),
				Pieces: []*document.Piece{m.Piece}, LeaveOut: m.leaveOut,
			}) {
				return
			}
		}
	}
}

// ruleSources returns the sizes of the rules if some of them are delivered with the
// configuration. A rejected rule frees space for others, even if it was in a ConfigMap.
func (in *Inputs) ruleSources() iter.Seq[configsecret.Source] {
	if len(in.RulePlan.Overflow) == 0 {
		return nil
	}
	return func(yield func(configsecret.Source) bool) {
		for i, r := range in.Rules {
			piece, err := r.Piece()
			if r.Err != nil || err != nil {
				continue
			}
			if !yield(configsecret.Source{
				Kind: v1.PrometheusRuleKind, Namespace: r.Object.Namespace, Name: r.Object.Name, Bytes: r.Bytes,
				Pieces: []*document.Piece{piece}, Rule: true, LeaveOut: func(why error) {
					in.Rules[i], in.repack = r.LeftOut(why), true
				},
			}) {
				return
			}
		}
	}
}

// fitSelection rejects objects that exceed the limits if only their results are needed. The
// workload's own part of the configuration counts if it can be compiled.
func (in *Inputs) fitSelection(s *promconfig.Settings, c engine.Cluster) {
	in.fitFiles()
	if in.options.unmanaged(in.Workload) || in.plainBytes() <= configsecret.MaxBytes {
		return // it fits into any Secret
	}
	frame, err := in.Workload.frame(s, nil, c.References)
	if err != nil {
		frame = promconfig.Frame{}
	}
	in.Frame = &frame
	plan := Plan{}
	_ = plan.config(in.builder(), in) // its reconciliation reports the error
}

// plainBytes returns the number of bytes that the selected objects add to the configuration.
func (in *Inputs) plainBytes() (n int) {
	for s := range in.sources() {
		n += s.Bytes
	}
	for _, r := range in.Rules {
		n += r.Bytes
	}
	return n
}

// fitFiles rejects monitors whose TLS files exceed the limit.
func (in *Inputs) fitFiles() []share.LeftOut {
	var own map[string][]byte
	if in.Frame != nil {
		own = in.Frame.Files
	}
	return engine.FitTLSFiles(in.tlsFiles(), own, func(yield func(engine.TLSFiles) bool) {
		for m := range in.Monitors.unusual() {
			if m.Err == nil && len(m.Files) > 0 && !yield(engine.TLSFiles{
				Kind: m.Kind, Object: m.Object, Files: m.Files, LeaveOut: m.leaveOut,
			}) {
				return
			}
		}
	})
}

// withheld returns the plan if the configuration is too large: it keeps the written content,
// and updates the pods to match that content.
func withheld(b *promworkload.Builder, in *Inputs, written configsecret.Output) (Plan, error) {
	plan := Plan{Plan: written.Withheld.Plan()}
	if written.LeavePods {
		return plan, nil
	}
	var ruleConfigMaps []string
	for _, m := range in.RuleConfigMaps {
		ruleConfigMaps = append(ruleConfigMaps, m.Name)
	}
	pod := workload.PodInputs{RuleConfigMaps: ruleConfigMaps, TLSSecrets: in.TLSSecrets(b.Base), ConfigInParts: written.InParts}
	if err := plan.workloads(b, in, pod); err != nil {
		return plan, err
	}
	return plan, nil
}
