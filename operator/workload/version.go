package workload

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// Versions used when the object names none.
const (
	DefaultPrometheusVersion = "v3.13.2"
	DefaultThanosVersion     = "v0.42.4"
)

// firstV3 sorts before every pre-release of 3.0.0, so that a gate on it asks
// for the major version only.
const firstV3 = "3.0.0-0"

// parseVersion reads a version as users write it: the leading "v" and missing
// parts are optional, "3.1" is 3.1.0. field is named in the error.
func parseVersion(field, text string) (*semver.Version, error) {
	v, err := semver.NewVersion(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%s: version %q: %w", field, text, err)
	}
	return v, nil
}

// parsePrometheusVersion is parseVersion for spec.version: empty means the
// default, and only the major versions 2 and 3 are known.
func parsePrometheusVersion(text string) (*semver.Version, error) {
	if text == "" {
		text = DefaultPrometheusVersion
	}
	v, err := parseVersion("spec.version", text)
	if err != nil {
		return nil, err
	}
	if v.Major() != 2 && v.Major() != 3 {
		return nil, fmt.Errorf("spec.version: unsupported Prometheus version %q: only 2.x and 3.x are known", text)
	}
	return v, nil
}

// versions is a range: since is included, until is not; empty is open. A
// pre-release sorts before its release: 3.0.0-rc.1 is not in {since: "3.0.0"}.
type versions struct{ since, until string }

// has reports whether v is in the range.
func (r versions) has(v *semver.Version) bool { return !r.before(v) && !r.after(v) }

// before reports whether v is older than the range.
func (r versions) before(v *semver.Version) bool {
	return r.since != "" && !gate.Target{Version: v}.AtLeast(r.since)
}

func (r versions) after(v *semver.Version) bool {
	return r.until != "" && gate.Target{Version: v}.AtLeast(r.until)
}

// Ranges that more than one argument depends on. The others stand in the tables.
var (
	withWebConfig    = versions{since: "2.24.0"} // --web.config.file and everything it needs
	withGoGCVariable = versions{until: "2.53.0"} // from then on the configuration file has it
	withDelayedBlock = versions{since: "3.9.0"}  // Prometheus half of delayed compaction

	thanosWithDelayedBlock = versions{since: "0.41.0"} // Thanos half
	thanosWithClientFile   = versions{since: "0.24.0"} // --prometheus.http-client-file
)
