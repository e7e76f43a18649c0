package workload

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// ParseVersion parses a version as users write it: the leading "v" and missing parts are
// optional, "3.1" is 3.1.0. field is named in the error.
func ParseVersion(field, text string) (*semver.Version, error) {
	v, err := semver.NewVersion(strings.TrimSpace(text))
	if err != nil {
		return nil, faults.At(field, fmt.Errorf("version %q: %w", text, err))
	}
	return v, nil
}

// Versions is a range that includes Since and excludes Until; empty means no limit. A
// pre-release sorts before its release: 3.0.0-rc.1 is not in {Since: "3.0.0"}.
type Versions struct{ Since, Until string }

// Has reports whether v is in the range.
func (r Versions) Has(v *semver.Version) bool { return !r.before(v) && !r.after(v) }

// Lost returns the field as dropped if it is set and v is older than the range.
func (r Versions) Lost(field string, set bool, v *semver.Version) []gate.Dropped {
	if !set || !r.before(v) {
		return nil
	}
	return []gate.Dropped{{Path: field, Need: ">= " + r.Since}}
}

// before reports whether v is older than the range.
func (r Versions) before(v *semver.Version) bool {
	return r.Since != "" && !gate.Target{Version: v}.AtLeast(r.Since)
}

func (r Versions) after(v *semver.Version) bool {
	return r.Until != "" && gate.Target{Version: v}.AtLeast(r.Until)
}
