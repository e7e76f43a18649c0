package prometheus

import (
	"cmp"
	"crypto/sha256"
	"io"
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Plan is the result of a reconciliation: the writes, and the data from which they were
// made.
type Plan struct {
	engine.Plan
	// Config is the complete configuration. It is empty if the user manages the
	// configuration.
	Config document.Document

	files    map[string]map[string]string // by ConfigMap, the rule files after Content is written
	overflow map[string][sha256.Size]byte // rule files that are delivered with the configuration, with their checksums
	written  configsecret.Output          // the configuration in Secrets; empty if Config is
	left     []share.LeftOut              // objects that exceed a limit
}

// Plan computes the objects that should exist for the workload. It is deterministic: the
// documents only cache compressed chunks. A configuration that is too large is withheld.
//
// Errors: a setting of the workload is invalid, so nothing may be written.
func (in *Inputs) Plan() (Plan, error) {
	b := in.builder()
	plan := Plan{}
	plan.left = slices.Concat(in.costly, in.left, in.fitFiles())
	if err := plan.config(b, in); err != nil {
		return plan, err
	}
	if plan.written.Withheld != nil {
		return withheld(b, in, plan.written)
	}
	if in.Workload.Server != nil {
		plan.contentWithRules(b, in)
	} else {
		plan.Content = append(plan.Content, plan.written.Steps...)
	}
	plan.left = append(plan.left, plan.written.Left...)
	tlsSecrets := plan.PutTLSAssets(b.Base, in.tlsFiles(), in.Live)
	web, err := b.WebConfigSecret()
	if err != nil {
		return plan, err
	}
	plan.Put(web)
	if in.Workload.Server != nil {
		plan.Put(b.ThanosHTTPClientSecret())
	}
	if len(in.DiscoveryCA) > 0 {
		plan.Put(b.DiscoveryCASecret(in.DiscoveryCA))
	}
	plan.Hash, plan.Delivered = plan.ContentHash(plan.written.Parts, in.Rules.EachSum(), in.Mounted.Sums()), plan.content(in.lastPlan)

	pod := workload.PodInputs{
		RuleConfigMaps: in.RulePlan.Names, TLSSecrets: tlsSecrets, ConfigInParts: plan.written.InParts,
	}
	if err := plan.workloads(b, in, pod); err != nil {
		return plan, err
	}
	plan.notes(b, in)
	plan.Plain = plan.plain(in)
	plan.Warnings = append(plan.Warnings, plan.written.Warnings...)
	return plan, nil
}

// plain returns the files whose plain form is not in Content.
func (plan *Plan) plain(in *Inputs) []engine.Plain {
	out := []engine.Plain{{Part: engine.ConfigPart, Text: plan.WriteConfig}}
	if len(plan.overflow) == 0 {
		return out
	}
	for _, r := range in.Rules {
		if _, beside := plan.overflow[r.FileName]; beside {
			out = append(out, engine.Plain{Part: "rules", Name: r.FileName, Text: func(w io.Writer) error {
				_, err := w.Write(r.Text())
				return err
			}})
		}
	}
	return out
}

// workloads adds the objects that run the pods to the plan. pod has the inputs that all pods
// share.
func (plan *Plan) workloads(b *promworkload.Builder, in *Inputs, pod workload.PodInputs) error {
	if b.UsesDaemonSet() {
		return plan.daemonSet(b, in, pod)
	}
	return plan.shards(b, in, pod)
}

// contentWithRules adds the rule ConfigMaps and the configuration to the plan. Steps that
// remove files come last, after rules that move to the configuration have been written
// there.
func (plan *Plan) contentWithRules(b *promworkload.Builder, in *Inputs) {
	writes := in.RulePlan.Writes(in.RuleConfigMaps, b.RuleConfigMapMeta, in.Rules.Contents)
	plan.files = writes.Files
	plan.Content = slices.Concat(plan.Content, writes.Giving, plan.written.Steps, writes.Taking)
}

// config assembles the configuration. If the user manages it, it only ensures that the
// Secret exists.
func (plan *Plan) config(b *promworkload.Builder, in *Inputs) (err error) {
	if in.Frame == nil {
		plan.written.Steps = []apply.Step{{Verb: apply.PutIfNone, Object: b.ConfigSecret([]byte{})}}
		plan.written.InParts = configsecret.ReadParts(b.Base, in.Live)
		return nil
	}
	plan.written, err = in.documents.Fit(b.Base, in.Live, func() (configsecret.Content, error) {
		if in.repack {
			in.packRules()
		}
		rules, err := in.lastPlan.Archive(in.Rules, in.RulePlan.Overflow)
		plan.overflow = rules.Sums
		return configsecret.Content{
			Pieces: in.document(), Origin: in.origin(),
			Rules: configsecret.Rules{Pieces: rules.Pieces, Files: len(in.RulePlan.Overflow), Bytes: rules.Bytes},
		}, err
	})
	plan.Config = plan.written.Document
	return err
}

// document returns the pieces of the configuration.
func (in *Inputs) document() []*document.Piece {
	var pieces []*document.Piece
	shared := false // whether the previous pieces are shared with other workloads
	for _, part := range promconfig.Assemble(in.Frame, in.Monitors.inDocument) {
		if monitors := part.Kind != ""; monitors != shared {
			pieces, shared = append(pieces, document.Fence), monitors
		}
		if !shared {
			pieces = append(pieces, document.NewPiece(part.Name, part.Text))
		}
		for _, among := range part.Monitors {
			pieces = among.appendPieces(pieces)
		}
	}
	return pieces
}

// WriteConfig writes the plain configuration, regardless of how it is split. It writes
// nothing if the user manages the configuration.
func (plan *Plan) WriteConfig(w io.Writer) error { return plan.written.WriteText(w) }

// packRules plans the rule ConfigMaps.
func (in *Inputs) packRules() {
	in.repack = false
	base := in.builder().RuleConfigMapBase()
	if in.rulesOverflow() {
		in.RulePlan = in.lastPlan.PackMounted(base, in.RuleConfigMaps, in.Rules)
		return
	}
	in.RulePlan, in.left = in.lastPlan.PackAlone(base, in.RuleConfigMaps, in.Rules)
}

// rulesOverflow reports whether the pods can read a configuration in parts: rules that exceed the
// ConfigMaps mounted by every pod are delivered with the configuration, so that growth never changes
// the pod. Otherwise, more ConfigMaps are mounted.
func (in *Inputs) rulesOverflow() bool {
	if in.config().Layout == workload.LayoutSingle || in.options.unmanaged(in.Workload) {
		return false
	}
	_, notYet := configsecret.NotReaders(in.builder().Base, in.Live)
	return notYet == ""
}

// tlsFiles returns the TLS files that the configuration refers to.
func (in *Inputs) tlsFiles() map[string][]byte {
	files := map[string][]byte{}
	if in.Frame != nil {
		maps.Copy(files, in.Frame.Files)
	}
	for m := range in.Monitors.unusual() {
		if m.Err == nil {
			maps.Copy(files, m.Files)
		}
	}
	return files
}

// content returns the content that the pods have on disk once they have received the update.
func (plan *Plan) content(last *rules.LastPlan) delivery.Content {
	out := delivery.Content{Config: plan.Config.Hash, Dirs: last.Digests(wellknown.PrometheusRuleDir, plan.files)}
	if len(plan.overflow) > 0 {
		out.Dirs[promconfig.ConfigRuleDir] = volume.SumDigests(plan.overflow)
	}
	return out
}

// notes adds the warnings that a user should see although nothing failed.
func (plan *Plan) notes(b *promworkload.Builder, in *Inputs) {
	if in.options.unmanaged(in.Workload) {
		plan.Reason, plan.Message = engine.ReasonConfigUnmanaged, configUnmanaged
	}
	plan.discoveryWarnings(b, in)
	plan.scalingWarnings(in)
	plan.Deprecate(deprecatedFields(in.Workload)...)
	if warning, is := b.CannotBeAgent(); is {
		plan.Warnings = append(plan.Warnings, warning)
		plan.Reason, plan.Message = engine.ReasonVersionTooOld, warning.String()
	}
	plan.LeaveOut(plan.left, cmp.Or(plan.written.Remedy, in.origin().Divide))
	own := b.Dropped()
	if in.Frame != nil {
		own = append(own, in.Frame.Dropped...)
		warnings := slices.Clone(in.Frame.Warnings)
		faults.Sort(warnings)
		plan.Warnings = append(plan.Warnings, warnings...)
	}
	plan.Warnings = append(plan.Warnings, in.Mounted.Warnings...)
	plan.Dropped = own
}

// The condition Reconciled if the user manages the configuration Secret, which only these
// kinds allow.
const (
	configUnmanaged = "spec.serviceMonitorSelector, spec.podMonitorSelector, spec.probeSelector and spec.scrapeConfigSelector are all unset, " +
		"so the operator leaves the configuration in the Secret to you: remoteWrite, alerting, rules and all else of the spec are not in it; set one of them, or spec.additionalScrapeConfigs with an empty selector, to have it generated"
)

// deprecatedFields returns the fields that have been replaced. An agent has none.
func deprecatedFields(o Workload) []engine.Deprecated {
	p := o.Server
	if p == nil {
		return nil
	}
	out := []engine.Deprecated{
		{Field: "spec.baseImage", Use: "spec.image", Set: p.Spec.BaseImage != ""},
		{Field: "spec.tag", Use: "spec.image", Set: p.Spec.Tag != ""},
		{Field: "spec.sha", Use: "spec.image", Set: p.Spec.SHA != ""},
	}
	if t := p.Spec.Thanos; t != nil {
		out = append(out,
			engine.Deprecated{Field: "spec.thanos.baseImage", Use: "spec.thanos.image", Set: t.BaseImage != ""},
			engine.Deprecated{Field: "spec.thanos.tag", Use: "spec.thanos.image", Set: t.Tag != ""},
			engine.Deprecated{Field: "spec.thanos.sha", Use: "spec.thanos.image", Set: t.SHA != ""})
	}
	return out
}
