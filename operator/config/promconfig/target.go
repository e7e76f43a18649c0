package promconfig

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// supportedVersions lists the versions covered by golden files and end-to-end tests,
// oldest first. Other versions of the majors 2 and 3 are accepted.
var supportedVersions = strings.Fields(`
	v2.45.0 v2.46.0 v2.47.0 v2.47.1 v2.47.2 v2.48.0 v2.48.1 v2.49.0 v2.49.1 v2.50.0 v2.50.1 v2.51.0 v2.51.1 v2.51.2
	v2.52.0 v2.53.0 v2.53.1 v2.53.2 v2.53.3 v2.54.0 v2.54.1 v2.55.0 v2.55.1
	v3.0.0 v3.0.1 v3.1.0 v3.2.0 v3.2.1 v3.3.0 v3.3.1 v3.4.0 v3.4.1 v3.4.2 v3.5.0 v3.5.1 v3.5.2 v3.5.3 v3.5.4 v3.5.5
	v3.6.0 v3.7.0 v3.7.1 v3.7.2 v3.7.3 v3.8.0 v3.8.1 v3.9.0 v3.9.1 v3.10.0 v3.11.0 v3.11.1 v3.11.2 v3.11.3 v3.12.0
	v3.13.0 v3.13.1 v3.13.2
`)

// ParseVersion parses spec.version of a workload.
//
// Format: "v2.45.0". The leading v, minor and patch are optional; leading zeros and
// surrounding whitespace are ignored; empty means the default. Errors: any other format,
// and majors other than 2 and 3.
func ParseVersion(specVersion string) (*semver.Version, error) {
	text := strings.TrimSpace(specVersion)
	if text == "" {
		text = wellknown.DefaultPrometheusVersion
	}
	text = strings.TrimPrefix(text, "v")
	core, suffix := text, ""
	if i := strings.IndexAny(text, "-+"); i >= 0 {
		core, suffix = text[:i], text[i:]
	}
	parts := strings.Split(core, ".")
	if len(parts) < 3 && suffix != "" {
		return nil, faults.At("spec.version", fmt.Errorf("%q is short and has a suffix", specVersion))
	}
	for i, part := range parts {
		if part = strings.TrimLeft(part, "0"); part == "" && parts[i] != "" {
			part = "0"
		}
		parts[i] = part
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	v, err := semver.StrictNewVersion(strings.Join(parts, ".") + suffix)
	if err != nil {
		return nil, faults.At("spec.version", fmt.Errorf("%q is not a version: %w; write all of its parts, such as %s", specVersion, err, wellknown.DefaultPrometheusVersion))
	}
	if v.Major() != 2 && v.Major() != 3 {
		return nil, faults.At("spec.version", fmt.Errorf("unsupported version %q: the major version must be 2 or 3", specVersion))
	}
	return v, nil
}

// major3 reports whether the target has major version 3, including pre-releases of 3.0.0. Only
// the key for classic histograms and the Alertmanager API v1 depend on the major version.
func major3(t gate.Target) bool { return t.Version.Major() >= 3 }
