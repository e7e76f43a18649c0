package amconfig

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// templateDir is the mount path of the templates of alertmanagerConfiguration.
const templateDir = "/etc/alertmanager/templates/"

// configHead is the part before the routes of AlertmanagerConfigs.
type configHead struct {
	Global *Global `yaml:"global,omitnil"`
	Route  *Route  `yaml:"route"`
}

// configTail is the part after all sections.
type configTail struct {
	Templates []string `yaml:"templates"`
}

// compileConfigBase compiles the frame from spec.alertmanagerConfiguration.
func compileConfigBase(am *v1.Alertmanager, t gate.Target, config *v1alpha1.AlertmanagerConfig, r assets.Reader) (f Frame, err error) {
	c := newCompiler(config, t, dialectOf(am, t), Globals{}, r)
	c.isBase = true
	if by := am.Spec.AlertmanagerConfiguration; by != nil {
		f, err = c.base(by, config)
	} else {
		err = faults.At("spec.alertmanagerConfiguration", errors.New("is not set"))
	}
	if err != nil {
		f = Frame{}
	}
	f.Deps, f.Files = c.Dependencies(), c.Files()
	return f, err
}

func (c *compiler) base(by *v1.AlertmanagerConfiguration, config *v1alpha1.AlertmanagerConfig) (f Frame, err error) {
	global, err := c.global(by.Global)
	if err != nil {
		return f, faults.At("spec.alertmanagerConfiguration.global", err)
	}
	c.globals = global.provides()
	f, err = c.configFrame(global, templateFiles(by.Templates), config)
	if err != nil {
		var all faults.List
		for _, one := range faults.Of(err) {
			all.Add("spec.alertmanagerConfiguration.name", &catalog.ObjectError{Ref: catalog.RefOf(v1alpha1.AlertmanagerConfigKind, config), Finding: one})
		}
		return f, all.Err()
	}
	f.Globals = c.globals
	return f, nil
}

// configFrame compiles the frame from the AlertmanagerConfig. Errors start with the field.
func (c *compiler) configFrame(global *Global, templates []string, config *v1alpha1.AlertmanagerConfig) (f Frame, err error) {
	add, err := c.convert(config)
	if err := errors.Join(err, faults.At("spec.route", checkRoot(config.Spec.Route))); err != nil {
		return f, err
	}
	root := *add.route
	below := additions{inhibit: add.inhibit, receivers: add.receivers, intervals: add.intervals}
	root.Routes = nil
	if f.Items, f.Dropped, err = below.encode(c.target, nil); err != nil {
		return f, err
	}
	text, dropped, err := gate.AppendItems(nil, add.route.Routes, c.target, "spec.route.routes")
	if err != nil {
		return f, err
	}
	f.Items[Routes], f.Dropped = indent(text), append(f.Dropped, fieldPaths(dropped)...)
	if f.Head, dropped, err = gate.Append(nil, configHead{Global: global, Route: &root}, c.target, ""); err != nil {
		return f, err
	}
	for _, d := range fieldPaths(dropped) { // the root route has no gated keys, see checkRoot
		d.Path = "spec.alertmanagerConfiguration." + d.Path
		f.Dropped = append(f.Dropped, d)
	}
	if f.Tail, _, err = gate.Append(nil, configTail{Templates: templates}, c.target, ""); err != nil {
		return f, err
	}
	trial := trialFrame(c.globals)
	if err := checkFragmentSize(f.Items); err != nil {
		return f, err
	}
	whole := document(&f, nil)
	if refused := load(whole); refused != nil {
		added := map[Section][]byte{Receivers: f.Items[Receivers], InhibitRules: f.Items[InhibitRules], MuteIntervals: f.Items[MuteIntervals]}
		if err := c.try(below, added, &trial); err != nil {
			return f, err
		}
		return f, fmt.Errorf("refused by Alertmanager: %w", explain(whole, refused, c.secret))
	}
	return f, nil
}

// checkRoot checks the rules of the root route, which matches all alerts.
func checkRoot(r *v1alpha1.Route) error {
	if r == nil {
		return errors.New("is missing; the configuration needs a root route")
	}
	var all faults.List
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"continue", r.Continue}, {"matchers", len(r.Matchers) > 0},
		{"muteTimeIntervals", len(r.MuteTimeIntervals) > 0}, {"activeTimeIntervals", len(r.ActiveTimeIntervals) > 0},
	} {
		if field.set {
			all.Add(field.name, errors.New("must not be set in the root route, which is for all alerts; write it into an item of routes"))
		}
	}
	return all.Err()
}

// templateFiles returns the paths of templates in the containers.
func templateFiles(in []v1.SecretOrConfigMap) []string {
	out := []string{}
	for i := range in {
		var fromMap, fromSecret string
		if in[i].ConfigMap != nil {
			fromMap = in[i].ConfigMap.Key
		}
		if in[i].Secret != nil {
			fromSecret = in[i].Secret.Key
		}
		if key := cmp.Or(fromMap, fromSecret); key != "" {
			out = append(out, templateDir+key)
		}
	}
	return out
}
