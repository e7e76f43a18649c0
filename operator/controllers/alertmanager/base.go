package alertmanager

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// compileBase compiles the Alertmanager's own part unless the cached one is current.
func (g *gatherer) compileBase(in *inputs, c engine.Cluster) (amconfig.Frame, error) {
	spec := in.am.Spec
	base := amconfig.Base{AsIs: spec.AlertmanagerConfiguration == nil && spec.AlertmanagerConfigSelector == nil}
	key := compiled.KeyOf(in.am)
	for _, name := range named(in.am) {
		var err error
		if base.Config, err = engine.Named[*v1alpha1.AlertmanagerConfig](c, catalog.AlertmanagerConfig, name); err != nil {
			return amconfig.Frame{}, faults.At("spec.alertmanagerConfiguration.name", err)
		}
		if base.Config == nil {
			return amconfig.Frame{}, faults.At("spec.alertmanagerConfiguration.name", fmt.Errorf("AlertmanagerConfig %q does not exist", name))
		}
		key += fmt.Sprintf("/%s/%t", compiled.KeyOf(base.Config), base.Config.LeftOut)
	}
	return g.base.Get(key, c.Current, func() (amconfig.Frame, []assets.Dependency, error) {
		frame, err := amconfig.CompileBase(in.am, in.Version, base, c.References)
		return frame, frame.Deps, err
	})
}
