package promworkload

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// firstV3 sorts before every pre-release of 3.0.0, so that a gate with it depends only on
// the major version.
const firstV3 = "3.0.0-0"

// parsePrometheusVersion calls [workload.ParseVersion] for spec.version. Empty means the
// default. Only the major versions 2 and 3 are supported.
func parsePrometheusVersion(text string) (*semver.Version, error) {
	if text == "" {
		text = wellknown.DefaultPrometheusVersion
	}
	v, err := workload.ParseVersion("spec.version", text)
	if err != nil {
		return nil, err
	}
	if v.Major() != 2 && v.Major() != 3 {
		return nil, faults.At("spec.version", fmt.Errorf("unsupported Prometheus version %q: only 2.x and 3.x are known", text))
	}
	return v, nil
}

// CannotBeAgent returns the warning about an agent whose version does not start in agent mode. ok is false for others, and where
// spec.image or spec.containers decide what runs.
func (b *Builder) CannotBeAgent() (warning faults.Finding, ok bool) {
	otherImage := b.common.Image != "" ||
		slices.ContainsFunc(b.common.Containers, func(c corev1.Container) bool { return c.Name == "prometheus" && c.Image != "" })
	if b.server != nil || b.Err != nil || otherImage || withAgentMode.Has(b.Version) {
		return warning, false
	}
	return faults.Remark("spec.version", "Prometheus %s does not start as an agent, because it has no flag --storage.agent.path: write 2.32.0 or newer", b.Version), true
}

// Version ranges that several arguments depend on. The others are in the tables.
var (
	withGoGCVariable = workload.Versions{Until: "2.53.0"}   // newer versions have it in the configuration file
	withAgentMode    = workload.Versions{Since: "2.32.0-0"} // also in the pre-releases
	withDelayedBlock = workload.Versions{Since: "3.9.0"}    // the Prometheus half of delayed compaction

	thanosWithDelayedBlock = workload.Versions{Since: "0.41.0"} // the Thanos half
	thanosWithClientFile   = workload.Versions{Since: "0.24.0"} // --prometheus.http-client-file
)
