package promworkload

import (
	"fmt"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// firstV3 sorts before every pre-release of 3.0.0, so that a gate on it asks
// for the major version only.
const firstV3 = "3.0.0-0"

// parsePrometheusVersion is [workload.ParseVersion] for spec.version: empty means
// the default, and only the major versions 2 and 3 are known.
func parsePrometheusVersion(text string) (*semver.Version, error) {
	if text == "" {
		text = wellknown.DefaultPrometheusVersion
	}
	v, err := workload.ParseVersion("spec.version", text)
	if err != nil {
		return nil, err
	}
	if v.Major() != 2 && v.Major() != 3 {
		return nil, fmt.Errorf("spec.version: unsupported Prometheus version %q: only 2.x and 3.x are known", text)
	}
	return v, nil
}

// Ranges that more than one argument depends on. The others stand in the tables.
var (
	withWebConfig    = workload.Versions{Since: "2.24.0"} // --web.config.file and everything it needs
	withGoGCVariable = workload.Versions{Until: "2.53.0"} // from then on the configuration file has it
	withDelayedBlock = workload.Versions{Since: "3.9.0"}  // Prometheus half of delayed compaction

	thanosWithDelayedBlock = workload.Versions{Since: "0.41.0"} // Thanos half
	thanosWithClientFile   = workload.Versions{Since: "0.24.0"} // --prometheus.http-client-file
)
