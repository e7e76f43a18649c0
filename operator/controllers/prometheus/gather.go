package prometheus

import (
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// gatherer gathers the inputs of one workload.
type gatherer struct {
	*family
	workload  fragments.Workload // of the fragments in the cache
	documents *configsecret.Documents
	monitors  fragments.LastPass[compiled]
	ruleFiles rules.Compiler
	frame     fragments.Kept[promconfig.Frame]
	mounts    engine.Mounts
	sets      workload.BuiltSets

	keptOf v1.Workload          // for which settings were made; nil: none
	kept   *promconfig.Settings // of it
}

// settingsOf returns the settings of a workload. They are made once for each version of it.
func (g *gatherer) settingsOf(o Workload) (*promconfig.Settings, error) {
	if g.keptOf == o.typed() {
		return g.kept, nil
	}
	out, err := g.Options.settings(o)
	if g.keptOf, g.kept = nil, nil; err == nil && o.GetResourceVersion() != "" {
		g.keptOf, g.kept = o.typed(), out
	}
	return out, err
}

// Held implements [engine.Gatherer].
func (g *gatherer) Held() int {
	return g.family.monitors.Held(g.workload) + g.monitors.Held() + g.ruleFiles.Held() + g.documents.Held() + g.sets.Held() + g.kept.Size()
}

// Close implements [engine.Gatherer].
func (g *gatherer) Close() {
	g.family.monitors.Release(g.workload)
	g.ruleFiles.Close()
	g.documents.Close()
}

// Gather implements [engine.Gatherer].
func (g *gatherer) Gather(w v1.Workload, c engine.Cluster) (engine.Inputs, error) {
	in, err := g.gather(g.workloadOf(w), c)
	return in, err
}

func (g *gatherer) gather(o Workload, c engine.Cluster) (*Inputs, error) {
	in := &Inputs{Workload: o, Live: c.Live, Now: c.Now, options: g.Options, documents: g.documents, sets: &g.sets, lastPlan: &g.ruleFiles.Plans}
	in.Retained = in.retained()
	selectors, err := g.kindOf(o).Selectors(o.typed())
	settings, invalid := g.settingsOf(o)
	if err != nil || invalid != nil {
		return in, g.faults(o, settings, c, err, invalid)
	}
	g.family.monitors.Use(g.workload, settings.Key())
	g.monitors.Begin(settings.Key())
	in.settings, in.references = settings, c.References
	monitorCompiler{g, c, selectors, settings, in}.compile()
	in.costly = in.Monitors.fitCosts()
	if o.Server != nil {
		in.Rules = g.ruleFiles.Compile(selectedRules(o, c, selectors, settings))
		in.costly = append(in.costly, in.Rules.FitCosts()...)
		in.RuleConfigMaps = rules.Buckets(c.Live.ConfigMaps, o.GetUID())
		in.packRules()
	}
	if err := in.temporary(); err != nil {
		return in, err
	}
	g.monitors.End()
	if c.SelectionOnly {
		in.fitSelection(settings, c)
		return in, nil
	}
	if in.Mounted, err = g.mounts.Read(o.typed(), c, engine.UserFolders(in.builder().UserMounts())); err != nil {
		return in, err
	}
	in.readDiscoveryCA()
	if g.unmanaged(o) {
		return in, nil
	}
	if err := g.compileFrame(in, settings, c); err != nil {
		return in, faults.Union(err, in.builder().Check())
	}
	return in, nil
}

// faults adds the errors of the frame and of the pods to the known ones, and removes duplicates.
//
// settings: nil if the version or an annotation is invalid. known: the errors of the selectors and of the settings.
func (g *gatherer) faults(o Workload, settings *promconfig.Settings, c engine.Cluster, known ...error) error {
	b := o.builder(g.Workload)
	if b.Err != nil || v1.Undecodable(o.typed()) != nil {
		return faults.Union(known...) // others can be consequences of these
	}
	if settings != nil && !g.unmanaged(o) {
		_, err := o.frame(settings, nil, c.References)
		known = append(known, err)
	}
	return faults.Union(append(known, b.Check())...)
}

// compileFrame compiles the workload's own part of the document unless the cached one is
// current.
func (g *gatherer) compileFrame(in *Inputs, s *promconfig.Settings, c engine.Cluster) error {
	o := in.Workload
	var ruleConfigMaps []string
	if o.Server != nil {
		ruleConfigMaps = in.builder().PadRuleConfigMaps(in.RulePlan.Names)
		if len(in.RulePlan.Overflow) > 0 {
			ruleConfigMaps = append(ruleConfigMaps, promconfig.ConfigRuleDir)
		}
	}
	key := strings.Join([]string{fragments.KeyOf(o), s.Key(), strings.Join(ruleConfigMaps, ",")}, "/")
	frame, err := g.frame.Get(key, c.Current, func() (promconfig.Frame, []assets.Dependency, error) {
		frame, err := o.frame(s, ruleConfigMaps, c.References)
		return frame, frame.Deps, err
	})
	if err == nil {
		in.Frame = &frame
	}
	return err
}

// compileRules compiles the rules of a server into the cache, because rules are the most
// expensive objects to compile. Errors are left to its reconciliation.
func (f *family) compileRules(w v1.Workload, c engine.Cluster) {
	o := workloadOf(w)
	selectors, err := f.servers.Selectors(w)
	if err != nil {
		return
	}
	if settings, err := f.settings(o); err == nil {
		selectedRules(o, c, selectors, settings).Compile(f.rules, nil)
	}
}

// selectedRules returns the selected rule objects of a server.
func selectedRules(o Workload, c engine.Cluster, selectors selection.Rules, s *promconfig.Settings) rules.Selection {
	return rules.Selection{
		Workload: o.cacheKey(), Settings: rules.PrometheusSettings(o.Server, s.Target().Version),
		Objects: engine.Selected[*v1.PrometheusRule](c, selectors, catalog.PrometheusRule),
	}
}

// monitorCompiler holds the arguments for compiling monitors.
type monitorCompiler struct {
	*gatherer
	cluster   engine.Cluster
	selectors selection.Rules
	settings  *promconfig.Settings
	in        *Inputs
}

// compile compiles and adds the selected objects of all kinds.
func (m monitorCompiler) compile() {
	compileMonitors(m, catalog.ServiceMonitor, promconfig.CompileServiceMonitor)
	compileMonitors(m, catalog.PodMonitor, promconfig.CompilePodMonitor)
	compileMonitors(m, catalog.Probe, promconfig.CompileProbe)
	compileMonitors(m, catalog.ScrapeConfig, promconfig.CompileScrapeConfig)
}

// compileMonitors compiles and adds the selected objects of one kind.
func compileMonitors[T catalog.Object](m monitorCompiler, row *catalog.Row, compile func(T, *promconfig.Settings, assets.Reader) promconfig.Fragment) {
	objects := engine.Selected[T](m.cluster, m.selectors, row)
	current := func(f compiled) bool {
		return f.usual || f.Err == nil && m.cluster.Stands(f.Deps, f.Piece.Size())
	}
	references := m.cluster.References
	if m.monitors.Whole() && m.cluster.Paced != nil {
		references = m.cluster.Paced
	}
	postponed := func(f compiled) bool { return !f.usual && assets.IsPostponed(f.Err) }
	out := fragments.All(&m.monitors, row.Kind, objects, current, postponed, func(obj T) compiled {
		return compiledOf(m.family.monitors.Get(m.settings.Key(), fragments.IDOf(row.Kind, obj), m.cluster.Current, func() (*CompiledMonitor, bool) {
			f := compile(manifest.Whole(obj), m.settings, references)
			piece := document.NewPiece(row.Kind+"/"+obj.GetNamespace()+"/"+obj.GetName(), f.YAML)
			f.YAML = nil
			return &CompiledMonitor{Fragment: f, Piece: piece}, !assets.IsTemporary(f.Err)
		}))
	})
	objects, out = fragments.Without(objects, out, postponed)
	m.in.Monitors = append(m.in.Monitors, &monitorsOfKind{
		kind: row.Kind, object: func(i int) catalog.Object { return objects[i] }, compiled: out,
	})
}

// temporary returns an error if a monitor could not be compiled because the cluster could
// not be read. Going ahead would remove its targets.
func (in *Inputs) temporary() error {
	for m := range in.Monitors.unusual() {
		if assets.IsTemporary(m.Err) {
			return fmt.Errorf("%s %s/%s: %w", m.Kind, m.Object.GetNamespace(), m.Object.GetName(), m.Err)
		}
	}
	return nil
}
