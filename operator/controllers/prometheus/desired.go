package prometheus

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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

// Plan is what a reconciliation wants to write, and what of it is to be looked at
// without a cluster.
type Plan struct {
	engine.Plan
	// Config is the finished configuration; empty when it is left to the user.
	Config document.Document

	files    map[string]map[string]string // of every rule ConfigMap after Content is written
	sums     map[string][sha256.Size]byte // of the rule files' contents
	overflow map[string][sha256.Size]byte // rule files that come with the configuration, with their sums
	written  configsecret.Output          // the configuration in Secrets; empty as Config is
	left     []share.LeftOut              // objects for which there is no room
}

// Plan decides what should exist for the owner. Same inputs, same result: the
// documents only remember compressed chunks. A configuration that is too large is
// withheld.
//
// Errors: a setting of the owner is wrong: nothing is to be written.
func (in *Inputs) Plan() (Plan, error) {
	owner := in.Owner.Workload(in.config())
	plan := Plan{}
	plan.left = append(in.left, in.fitFiles()...)
	if err := plan.config(owner, in); err != nil {
		return plan, err
	}
	if plan.written.Withheld != nil {
		return withheld(owner, in, plan.written)
	}
	if in.Owner.Server != nil {
		plan.contentWithRules(owner, in)
	} else {
		plan.Content = append(plan.Content, plan.written.Steps...)
	}
	plan.left = append(plan.left, plan.written.Left...)
	tlsSecrets := plan.PutTLSAssets(owner.Base, in.tlsFiles(), in.Live)
	web, err := owner.WebConfigSecret()
	if err != nil {
		return plan, err
	}
	plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: web})
	if in.Owner.Server != nil {
		plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: owner.ThanosHTTPClientSecret()})
	}
	plan.Hash, plan.Delivered = plan.ContentHash(plan.written.Parts, in.Rules.EachSum(), in.Mounted.Sums()), plan.content()

	pod := promworkload.Inputs{
		RuleConfigMaps: in.RulePlan.Names, TLSSecrets: tlsSecrets, ConfigInParts: plan.written.InParts,
	}
	if err := plan.workloads(owner, in, pod); err != nil {
		return plan, err
	}
	plan.notes(owner, in)
	plan.Plain = plan.plain(in)
	plan.Warnings = append(plan.Warnings, plan.written.Warnings...)
	return plan, nil
}

// plain are the files that Content does not show as they are.
func (plan *Plan) plain(in *Inputs) []engine.Plain {
	out := []engine.Plain{{Part: engine.ConfigPart, Text: plan.WriteConfig}}
	for _, r := range in.Rules {
		if _, beside := plan.overflow[r.FileName]; beside {
			out = append(out, engine.Plain{Part: "rules", Name: r.FileName, Text: func(w io.Writer) error {
				_, err := io.WriteString(w, r.Content)
				return err
			}})
		}
	}
	return out
}

// workloads wants what runs the pods. pod is what they have in common.
func (plan *Plan) workloads(owner *promworkload.Owner, in *Inputs, pod promworkload.Inputs) error {
	if owner.UsesDaemonSet() {
		return plan.daemonSet(owner, in, pod)
	}
	return plan.shards(owner, in, pod)
}

// contentWithRules wants the rule ConfigMaps and the configuration. Steps that take files
// away come last: rules that come with the configuration are written before.
func (plan *Plan) contentWithRules(owner *promworkload.Owner, in *Inputs) {
	writes := in.RulePlan.Writes(in.RuleConfigMaps, owner.RuleConfigMapMeta)
	plan.files, plan.sums = writes.Files, in.Rules.Sums()
	plan.Content = slices.Concat(plan.Content, writes.Giving, plan.written.Steps, writes.Taking)
}

// config assembles the configuration, or makes sure that its Secret exists when
// its content is the user's.
func (plan *Plan) config(owner *promworkload.Owner, in *Inputs) (err error) {
	if in.Frame == nil {
		plan.written.Steps = []apply.Step{{Verb: apply.PutIfNone, Object: owner.ConfigSecret([]byte{})}}
		plan.written.InParts = configsecret.ReadParts(owner.Base, in.Live)
		return nil
	}
	plan.written, err = in.documents.Fit(owner.Base, in.Live, func() (configsecret.Content, error) {
		if in.repack {
			in.packRules()
		}
		rules, err := in.Rules.Archive(in.RulePlan.Overflow)
		plan.overflow = rules.Sums
		return configsecret.Content{
			Pieces: in.document(), Origin: in.origin(),
			Rules: configsecret.Rules{Pieces: rules.Pieces, Files: len(in.RulePlan.Overflow), Bytes: rules.Bytes},
		}, err
	})
	plan.Config = plan.written.Document
	return err
}

// document is the configuration in pieces.
func (in *Inputs) document() []*document.Piece {
	pieces := make([]*document.Piece, 0, len(in.Monitors)+6)
	shared := false // the pieces before are those of other owners too
	for _, part := range promconfig.Assemble(in.Frame, in.pieces) {
		if monitors := part.Kind != ""; monitors != shared {
			pieces, shared = append(pieces, document.Fence), monitors
		}
		if !shared {
			pieces = append(pieces, document.NewPiece(part.Name, part.Text))
		}
		pieces = append(pieces, part.Monitors...)
	}
	return pieces
}

// WriteConfig writes the plain configuration, wherever its parts are; nothing when
// it is left to the user.
func (plan *Plan) WriteConfig(w io.Writer) error { return plan.written.WriteText(w) }

// packRules plans the ConfigMaps of rules.
func (in *Inputs) packRules() {
	in.repack = false
	base := in.Owner.Workload(in.config()).RuleConfigMapBase()
	if most := in.mostRuleConfigMaps(); most > 0 {
		in.RulePlan = rules.PackWithin(base, in.RuleConfigMaps, in.Rules.Contents(), most)
		return
	}
	in.RulePlan, in.left = in.Rules.PackAlone(base, in.RuleConfigMaps)
}

// mostRuleConfigMaps is how many ConfigMaps may be made for rules; 0 is as many as rules
// may have at all. Where pods read the parts of a configuration, rules beyond the ConfigMaps
// that every pod mounts come along with it, and growth never changes the pod. In
// all other cases more ConfigMaps are mounted.
func (in *Inputs) mostRuleConfigMaps() int {
	if in.config().Layout == workload.LayoutSingle || in.options.unmanaged(in.Owner) {
		return 0
	}
	if _, notYet := configsecret.NotReaders(in.Owner.Workload(in.config()).Base, in.Live); notYet != "" {
		return 0
	}
	return wellknown.MountedRuleConfigMaps
}

// pieces are the jobs of the accepted monitors of a kind.
func (in *Inputs) pieces(kind string) (out []*document.Piece) {
	for _, m := range in.Monitors {
		if m.Kind == kind && m.Err == nil && m.Piece.Size() > 0 {
			out = append(out, m.Piece)
		}
	}
	return out
}

// tlsFiles are the TLS files that the configuration names.
func (in *Inputs) tlsFiles() map[string][]byte {
	files := map[string][]byte{}
	if in.Frame != nil {
		maps.Copy(files, in.Frame.Files)
	}
	for _, m := range in.Monitors {
		if m.Err == nil {
			maps.Copy(files, m.Files)
		}
	}
	return files
}

// content is what the pods have on disk once Content has reached them.
func (plan *Plan) content() delivery.Content {
	out := delivery.Content{Config: plan.Config.Hash, Dirs: rules.Digests(wellknown.PrometheusRuleDir, plan.files, plan.sums)}
	if len(plan.overflow) > 0 {
		out.Dirs[promconfig.ConfigRuleDir] = volume.SumDigests(plan.overflow)
	}
	return out
}

// notes collects what the user should know although nothing failed.
func (plan *Plan) notes(owner *promworkload.Owner, in *Inputs) {
	plan.Reason, plan.Message = in.remark()
	if text := share.Message(plan.left, cmp.Or(plan.written.Remedy, in.origin().Divide)); text != "" {
		plan.Reason, plan.Message = engine.ReasonLeftOut, text
	}
	own := owner.Dropped()
	if in.Frame != nil {
		own = append(own, in.Frame.Dropped...)
		plan.Warnings = append(plan.Warnings, slices.Sorted(slices.Values(in.Frame.Warnings))...)
	}
	plan.Warnings = append(plan.Warnings, in.Mounted.Warnings...)
	plan.Dropped = engine.AllDropped(in, own...)
}

// Reasons of the condition Reconciled that only these kinds have.
const reasonConfigUnmanaged = "ConfigurationUnmanaged" // the configuration Secret is left to the user

// remark is what the condition Reconciled should say of a success.
func (in *Inputs) remark() (reason, message string) {
	switch deprecated := deprecatedFields(in.Owner); {
	case len(deprecated) > 0:
		return engine.ReasonDeprecated, strings.Join(deprecated, "; ")
	case in.options.unmanaged(in.Owner):
		return reasonConfigUnmanaged, "spec.serviceMonitorSelector, spec.podMonitorSelector, spec.probeSelector and spec.scrapeConfigSelector are all unset, " +
			"so the operator leaves the configuration in the Secret to you: remoteWrite, alerting, rules and all else of the spec are not in it; set one of them, or spec.additionalScrapeConfigs with an empty selector, to have it generated"
	}
	return "", ""
}

// deprecatedFields names fields in use that have a replacement. An agent has none.
func deprecatedFields(o Owner) []string {
	p := o.Server
	if p == nil {
		return nil
	}
	var out []string
	add := func(old, replacement, value string) {
		if value != "" {
			out = append(out, fmt.Sprintf("%s is deprecated, use %s", old, replacement))
		}
	}
	add("spec.baseImage", "spec.image", p.Spec.BaseImage)
	add("spec.tag", "spec.image", p.Spec.Tag)
	add("spec.sha", "spec.image", p.Spec.SHA)
	if t := p.Spec.Thanos; t != nil {
		add("spec.thanos.baseImage", "spec.thanos.image", t.BaseImage)
		add("spec.thanos.tag", "spec.thanos.image", t.Tag)
		add("spec.thanos.sha", "spec.thanos.image", t.SHA)
	}
	return out
}
