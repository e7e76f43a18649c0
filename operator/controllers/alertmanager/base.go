package alertmanager

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// keptBase caches the Alertmanager's own part of the configuration until one of its
// inputs changes.
type keptBase struct {
	key   string
	frame amconfig.Frame
}

// compileBase compiles the Alertmanager's own part unless the cached one is current.
func (g *gatherer) compileBase(in *inputs, c engine.Cluster) (amconfig.Frame, error) {
	spec := in.am.Spec
	base := amconfig.Base{AsIs: spec.AlertmanagerConfiguration == nil && spec.AlertmanagerConfigSelector == nil}
	key := fmt.Sprintf("%s/%d", in.am.UID, in.am.Generation)
	for _, name := range named(in.am) {
		var err error
		if base.Config, err = engine.Named[*v1alpha1.AlertmanagerConfig](c, catalog.AlertmanagerConfig, name); err != nil {
			return amconfig.Frame{}, fmt.Errorf("spec.alertmanagerConfiguration.name: %w", err)
		}
		if base.Config == nil {
			return amconfig.Frame{}, fmt.Errorf("spec.alertmanagerConfiguration.name: AlertmanagerConfig %q does not exist", name)
		}
		key += fmt.Sprintf("/%s/%d/%t", base.Config.UID, base.Config.Generation, base.Config.LeftOut)
	}
	if g.base.key == key && c.Current(g.base.frame.Deps) {
		return g.base.frame, nil
	}
	g.base = keptBase{}
	frame, err := amconfig.CompileBase(in.am, in.owner.version, base, c.References)
	if err == nil {
		g.base = keptBase{key, frame}
	}
	return frame, err
}
