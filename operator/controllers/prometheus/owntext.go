package prometheus

import (
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// ownText returns the function that compiles a monitor with the discovery and the sharding of the
// servers themselves, see [fragments.Result]. It is nil if the monitor was compiled with them.
func (in *Inputs) ownText(m Monitor) func() []byte {
	if in.settings == nil || !in.settings.Central() {
		return nil
	}
	return func() []byte {
		s := in.settings.WithOrigins()
		var f promconfig.Fragment
		switch o := manifest.Whole(m.Object).(type) {
		case *v1.ServiceMonitor:
			f = promconfig.CompileServiceMonitor(o, s, in.references)
		case *v1.PodMonitor:
			f = promconfig.CompilePodMonitor(o, s, in.references)
		case *v1.Probe:
			f = promconfig.CompileProbe(o, s, in.references)
		case *v1alpha1.ScrapeConfig:
			f = promconfig.CompileScrapeConfig(o, s, in.references)
		}
		return f.YAML
	}
}
