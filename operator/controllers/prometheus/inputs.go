package prometheus

import (
	"iter"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Inputs is everything that a reconciliation of an owner read.
type Inputs struct {
	Owner Owner
	// Frame is the owner's own part of the configuration; nil when the
	// configuration is left to the user.
	Frame *promconfig.Frame
	// Monitors are the selected monitors, compiled, in the order of the document.
	Monitors []Monitor
	// Rules are the selected rule objects, compiled, by namespace and name. Agents
	// have none, and none of what follows about rules.
	Rules rules.Files
	// RuleConfigMaps are the live ConfigMaps of rules.
	RuleConfigMaps []rules.Bucket
	// RulePlan says which ConfigMap holds which rule file.
	RulePlan rules.Plan
	// Mounted are the files of the user in the pods.
	Mounted engine.Mounted
	// Live is what exists for the owner.
	engine.Live
	// Now decides about the deadlines of retained shards.
	Now time.Time

	options   Options
	documents *configsecret.Documents
	left      []share.LeftOut // rules for which there is no ConfigMap
	repack    bool            // rules were left out after RulePlan was made
}

// Monitor is one selected monitor and what it compiled to.
type Monitor struct {
	Object catalog.Object
	Kind   string
	*CompiledMonitor
}

// CompiledMonitor is a fragment whose YAML has become a piece of the document. It
// is shared.
type CompiledMonitor struct {
	promconfig.Fragment // without YAML
	Piece               *document.Piece
}

// Weight implements compiled.Weighted: TLS files are those of the Secrets in the cache.
func (m *CompiledMonitor) Weight() (bytes int, files map[string]int) {
	return compiled.WeightOf(m, m.Files)
}

// Verdicts implements engine.Inputs.
func (in *Inputs) Verdicts() iter.Seq[compiled.Verdict] {
	return func(yield func(compiled.Verdict) bool) {
		for _, m := range in.Monitors {
			if !yield(m.verdict()) {
				return
			}
		}
		for _, r := range in.Rules {
			if !yield(r.Verdict()) {
				return
			}
		}
	}
}

func (m Monitor) verdict() compiled.Verdict {
	out := compiled.Verdict{Kind: m.Kind, Object: m.Object, Err: m.Err}
	if m.Err == nil {
		out.Text, out.Jobs = m.Piece, m.Jobs
	}
	for _, d := range m.Dropped {
		out.Dropped = append(out.Dropped, d.String())
	}
	return out
}

// References implements engine.Inputs.
func (in *Inputs) References() iter.Seq[assets.Ref] {
	return func(yield func(assets.Ref) bool) {
		for _, m := range in.Monitors {
			for _, d := range m.Deps {
				if !yield(d.Ref) {
					return
				}
			}
		}
		own := in.Mounted.Deps
		if in.Frame != nil {
			own = slices.Concat(own, in.Frame.Deps)
		}
		for _, d := range own {
			if !yield(d.Ref) {
				return
			}
		}
	}
}

// Desired implements engine.Inputs.
func (in *Inputs) Desired() (engine.Plan, error) {
	plan, err := in.Plan()
	return plan.Plan, err
}

// config are the operator's own settings.
func (in *Inputs) config() workload.Config { return in.options.Workload }
