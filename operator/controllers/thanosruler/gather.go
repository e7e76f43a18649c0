package thanosruler

import (
	"iter"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// inputs are the inputs of one reconciliation of a ThanosRuler.
type inputs struct {
	*builder
	// rules are the selected and compiled rule objects, sorted by namespace and name.
	rules rules.Files
	// buckets are the live rule ConfigMaps. plan assigns the rule files to ConfigMaps.
	buckets []rules.Bucket
	plan    rules.Plan
	left    []share.LeftOut // rules for which no ConfigMap is left, or that cost the server too much
	// remoteWrite is the remote-write configuration file.
	remoteWrite promconfig.RemoteWriteFile
	// alerting are the Secrets with the user's alerting files. alertFaults are the errors
	// for which the server would reject these files.
	alerting    []assets.Dependency
	alertFaults error
	live        engine.Live
	last        *rules.LastPlan // nil: none is kept
}

// gatherer gathers the inputs of one ThanosRuler.
type gatherer struct {
	*settings
	rules.Compiler
	alerting    fragments.Kept[[]assets.Dependency] // of files that were found valid
	remoteWrite fragments.Kept[promconfig.RemoteWriteFile]
}

// Gather implements [engine.Gatherer].
func (g *gatherer) Gather(w v1.Workload, c engine.Cluster) (engine.Inputs, error) {
	tr := w.(*v1.ThanosRuler)
	in := &inputs{builder: newBuilder(tr, g.cfg), live: c.Live, last: &g.Plans}
	selected, err := g.selected(in.builder, tr, c)
	if err != nil {
		return in, err
	}
	in.rules = g.Compile(selected)
	costly := in.rules.FitCosts()
	in.buckets = rules.Buckets(c.Live.ConfigMaps, tr.UID)
	in.plan, in.left = g.Plans.PackAlone(in.RuleConfigMapBase(), in.buckets, in.rules)
	in.left = append(costly, in.left...)
	if c.SelectionOnly {
		return in, nil
	}
	key := fragments.KeyOf(tr)
	in.alerting, in.alertFaults = g.alerting.Get(key, c.Current, func() ([]assets.Dependency, []assets.Dependency, error) {
		deps, err := promconfig.CheckThanosFiles(tr, in.Version, c.References)
		return deps, deps, err
	})
	if assets.IsTemporary(in.alertFaults) {
		return in, in.alertFaults
	}
	in.remoteWrite, err = g.remoteWrite.Get(key, c.Current, func() (promconfig.RemoteWriteFile, []assets.Dependency, error) {
		file, err := promconfig.CompileThanosRemoteWrite(tr, in.Version, c.References)
		return file, file.Deps, err
	})
	return in, err // the file has its references even after an error
}

func cacheKey(namespace, name string) fragments.Workload {
	return fragments.Workload{Kind: v1.ThanosRulerKind, Namespace: namespace, Name: name}
}

// selected returns the selected rule objects of a ThanosRuler.
//
// Errors: a selector or the version is invalid.
func (s *settings) selected(b *builder, tr *v1.ThanosRuler, c engine.Cluster) (rules.Selection, error) {
	selectors, err := s.kind.Selectors(tr)
	if err != nil {
		return rules.Selection{}, err
	}
	if b.Err != nil {
		return rules.Selection{}, b.Err
	}
	return rules.Selection{
		Workload: cacheKey(tr.Namespace, tr.Name), Settings: rules.ThanosRulerSettings(tr, b.Version),
		Objects: engine.Selected[*v1.PrometheusRule](c, selectors, catalog.PrometheusRule),
	}, nil
}

// compileRules compiles the rules of a ThanosRuler into the cache. Errors are left to its
// reconciliation.
func (s *settings) compileRules(w v1.Workload, c engine.Cluster) {
	tr := w.(*v1.ThanosRuler)
	if selected, err := s.selected(newBuilder(tr, s.cfg), tr, c); err == nil {
		selected.Compile(s.cache, nil)
	}
}

// Results implements [engine.Inputs].
func (in *inputs) Results() iter.Seq[fragments.Result] { return in.rules.Results() }

// References implements [engine.Inputs]. Other Secrets that pods mount are not included,
// since the objects do not depend on them.
func (in *inputs) References() iter.Seq[assets.Ref] {
	return assets.Refs(in.remoteWrite.Deps, in.alerting)
}
