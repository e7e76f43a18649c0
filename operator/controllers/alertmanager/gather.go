package alertmanager

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// gatherer gathers the inputs of one Alertmanager.
type gatherer struct {
	*settings
	workload fragments.Workload // of the fragments in the cache
	document *configsecret.Documents
	last     fragments.LastPass[*compiledConfig]
	base     fragments.Kept[amconfig.Frame]
	// globals are the global settings of the last valid base. While the base is invalid, the
	// pods keep running with it, and AlertmanagerConfigs are still checked against it.
	globals amconfig.Globals
	mounts  engine.Mounts
}

// Held implements [engine.Gatherer].
func (g *gatherer) Held() int { return g.configs.Held(g.workload) + g.last.Held() + g.document.Held() }

// Close implements [engine.Gatherer].
func (g *gatherer) Close() {
	g.configs.Release(g.workload)
	g.document.Close()
}

// Gather implements [engine.Gatherer]. An invalid base is an error of Desired instead, so
// that the results of the AlertmanagerConfigs are still reported.
func (g *gatherer) Gather(w v1.Workload, c engine.Cluster) (engine.Inputs, error) {
	am := w.(*v1.Alertmanager)
	in := &inputs{am: am, builder: newBuilder(am, g.cfg), live: c.Live, document: g.document}
	selectors, err := g.kind.Selectors(w)
	if err != nil {
		return in, err
	}
	if in.Err != nil {
		return in, in.Err
	}
	objects := engine.Selected[*v1alpha1.AlertmanagerConfig](c, selectors, catalog.AlertmanagerConfig)
	if !c.SelectionOnly || len(objects) > 0 {
		if in.base, in.baseErr = g.compileBase(in, c); in.baseErr == nil {
			g.globals = in.base.Globals
		}
	}
	if !c.SelectionOnly {
		if assets.IsTemporary(in.baseErr) {
			return in, in.baseErr // AlertmanagerConfigs would be checked without the base
		}
		if in.mounted, err = g.mounts.Read(am, c, in.builder.folders()); err != nil {
			return in, err
		}
	}
	g.compileConfigs(in, objects, g.globals, c)
	in.costly = in.fitCosts()
	if c.SelectionOnly {
		in.withoutBase(c)
		in.fitSelection()
	}
	if err := in.temporary(); err != nil {
		return in, err
	}
	g.last.End()
	return in, nil
}

// withoutBase replaces the results that depend on global settings by the error of the base if it cannot be read, for
// example with fewer permissions than those of the operator.
func (in *inputs) withoutBase(c engine.Cluster) {
	if !assets.IsTemporary(in.baseErr) && !assets.IsRefused(in.baseErr) {
		return
	}
	s := amconfig.NewSettings(in.am, in.Version, amconfig.Globals{})
	for i, config := range in.configs {
		if config.Err == nil && amconfig.Compile(manifest.Whole(config.object), s, c.References).Err != nil {
			in.configs[i].compiledConfig = &compiledConfig{Fragment: amconfig.Fragment{Err: in.baseErr}}
		}
	}
}

// fitSelection rejects objects that exceed the limits if only their results are needed. The
// base is not counted.
func (in *inputs) fitSelection() {
	in.fitFiles()
	size := 0
	for _, c := range in.configs {
		size += c.size()
	}
	if size > configsecret.MaxBytes { // otherwise it fits into any Secret
		_, _ = in.writeConfig() // its reconciliation reports the error
	}
}

// compileConfigs compiles the selected AlertmanagerConfigs that are not in the cache.
func (g *gatherer) compileConfigs(in *inputs, objects []*v1alpha1.AlertmanagerConfig, globals amconfig.Globals, c engine.Cluster) {
	s := amconfig.NewSettings(in.am, in.Version, globals)
	g.configs.Use(g.workload, s.Key())
	g.last.Begin(s.Key())
	stands := func(f *compiledConfig) bool { return f.Err == nil && c.Stands(f.Deps, f.size()) }
	references := c.References
	if g.last.Whole() && c.Paced != nil {
		references = c.Paced
	}
	postponed := func(f *compiledConfig) bool { return assets.IsPostponed(f.Err) }
	out := fragments.All(&g.last, v1alpha1.AlertmanagerConfigKind, objects, stands, postponed, func(obj *v1alpha1.AlertmanagerConfig) *compiledConfig {
		return g.configs.Get(s.Key(), fragments.IDOf(v1alpha1.AlertmanagerConfigKind, obj), c.Current, func() (*compiledConfig, bool) {
			f := newCompiled(obj, amconfig.Compile(manifest.Whole(obj), s, references))
			return f, !assets.IsTemporary(f.Err)
		})
	})
	objects, out = fragments.Without(objects, out, postponed)
	in.configs = make([]config, 0, len(objects))
	for i, obj := range objects {
		in.configs = append(in.configs, config{obj, out[i]})
	}
}

// newCompiled converts the YAML of a fragment to pieces.
func newCompiled(obj *v1alpha1.AlertmanagerConfig, f amconfig.Fragment) *compiledConfig {
	out := &compiledConfig{Fragment: f}
	for i, section := range sections {
		if text := f.YAML[section]; len(text) > 0 {
			out.pieces[i] = document.NewPiece(string(section)+"/"+obj.Namespace+"/"+obj.Name, text)
		}
	}
	out.YAML = nil
	return out
}

// temporary returns an error if an AlertmanagerConfig could not be compiled because the
// cluster could not be read. Going ahead would remove its receivers.
func (in *inputs) temporary() error {
	for _, c := range in.configs {
		if assets.IsTemporary(c.Err) {
			return fmt.Errorf("%s %s/%s: %w", v1alpha1.AlertmanagerConfigKind, c.object.Namespace, c.object.Name, c.Err)
		}
	}
	return nil
}
