package prometheus

import (
	"iter"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Inputs are the inputs of one reconciliation of a workload.
type Inputs struct {
	Workload Workload
	// Frame is the workload's own part of the configuration. It is nil if the user
	// manages the configuration.
	Frame *promconfig.Frame
	// Monitors are the selected and compiled monitors.
	Monitors Monitors
	// Rules are the selected and compiled rule objects, sorted by namespace and name.
	// They and the other fields about rules are empty for agents.
	Rules rules.Files
	// RuleConfigMaps are the live rule ConfigMaps.
	RuleConfigMaps []rules.Bucket
	// RulePlan assigns the rule files to ConfigMaps.
	RulePlan rules.Plan
	// Mounted are the user's files in the pods.
	Mounted engine.MountedFiles
	// DiscoveryCA is the CA of the discovery service, for workloads with central discovery.
	DiscoveryCA []byte
	// Live are the live objects of the workload.
	engine.Live
	// Now is the time to compare with the deadlines of retained shards.
	Now time.Time

	settings   *promconfig.Settings // of Monitors
	references assets.Reader

	options   Options
	documents *configsecret.Documents
	sets      *workload.BuiltSets // nil: none are kept
	lastPlan  *rules.LastPlan     // nil: none is kept
	built     *promworkload.Builder
	noCA      error           // why there is no DiscoveryCA
	left      []share.LeftOut // rules for which no ConfigMap is left
	costly    []share.LeftOut // objects that cost the server too much
	repack    bool            // whether rules were rejected after RulePlan was made
}

// builder returns the builder of the workload's objects.
func (in *Inputs) builder() *promworkload.Builder {
	if in.built == nil {
		in.built = in.Workload.builder(in.config())
	}
	return in.built
}

// Results implements [engine.Inputs].
func (in *Inputs) Results() iter.Seq[fragments.Result] {
	return func(yield func(fragments.Result) bool) {
		for m := range in.Monitors.All() {
			v := m.result()
			if v.Err == nil {
				v.Own = in.ownText(m)
			}
			if !yield(v) {
				return
			}
		}
		for _, r := range in.Rules {
			if !yield(r.Result()) {
				return
			}
		}
	}
}

func (m Monitor) result() fragments.Result {
	if m.usual {
		return fragments.Result{Kind: m.Kind, Object: m.Object, Text: m.piece, Jobs: int(m.jobs)}
	}
	out := fragments.Result{Kind: m.Kind, Object: m.Object, Err: m.Err}
	if m.Err == nil {
		out.Text, out.Jobs = m.Piece, m.Jobs
	}
	out.Dropped = m.Dropped
	return out
}

// References implements [engine.Inputs].
func (in *Inputs) References() iter.Seq[assets.Ref] {
	var deps [][]assets.Dependency
	for m := range in.Monitors.unusual() {
		deps = append(deps, m.Deps)
	}
	deps = append(deps, in.Mounted.Deps)
	if in.Frame != nil {
		deps = append(deps, in.Frame.Deps)
	}
	return assets.Refs(deps...)
}

// Desired implements [engine.Inputs].
func (in *Inputs) Desired() (engine.Plan, error) {
	plan, err := in.Plan()
	return plan.Plan, err
}

// config returns the settings of the operator.
func (in *Inputs) config() workload.Config { return in.options.Workload }
