package gate

import (
	"fmt"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// Mode tells the two ways a Prometheus runs.
type Mode string

const (
	// Server scrapes, stores, evaluates and answers queries.
	Server Mode = "server"
	// Agent scrapes and forwards.
	Agent Mode = "agent"
)

// Target is what a document is written for.
type Target struct {
	// Version decides the gates. A pre-release sorts before its release:
	// 3.0.0-rc.1 does not satisfy since:"3.0.0".
	Version *semver.Version
	// Mode is empty for programs without modes; every mode tag then counts as met.
	Mode Mode
	// AllVersions treats every gate as satisfied; Version may be nil then.
	AllVersions bool
}

// AtLeast reports whether the target's version is v or later.
//
// v: a version in full, "2.49.0"; panics when it does not parse, as v is always a constant.
func (t Target) AtLeast(v string) bool {
	return t.AllVersions || !t.Version.LessThan(mustVersion(v))
}

// Dropped is one key or list item that was left out.
type Dropped struct {
	// Path of the key in the document: "scrape_configs[3].enable_compression".
	Path string
	// Need is the unmet condition: ">= 2.49.0", "< 2.11.0" or "server mode".
	Need string
}

// String is for people: "scrape_configs[3].enable_compression needs >= 2.49.0".
func (d Dropped) String() string { return d.Path + " needs " + d.Need }

// Versioned is a value that says itself since when it is understood.
type Versioned interface {
	// Since returns a version in full, or "" when there is no minimum.
	Since() string
}

// Gated is a value whose admission takes more than one version number.
type Gated interface {
	// Allowed returns "" when the value may be written, else the unmet need
	// in the form of [Dropped].
	Allowed(t Target) (need string)
}

// rule is the parsed form of the since, until and mode tags.
type rule struct {
	since, sinceAgent, until *semver.Version
	mode                     Mode
}

// need returns "" when r admits the target, else what is missing.
func (r rule) need(t Target) string {
	if t.AllVersions {
		return ""
	}
	since := r.since
	if t.Mode == Agent && r.sinceAgent != nil {
		since = r.sinceAgent
	}
	switch {
	case r.mode != "" && t.Mode != "" && r.mode != t.Mode:
		return string(r.mode) + " mode"
	case since != nil && t.Version.LessThan(since):
		return ">= " + since.String()
	case r.until != nil && !t.Version.LessThan(r.until):
		return "< " + r.until.String()
	}
	return ""
}

// parseRule reads the three tags of a field.
func parseRule(since, until, mode string) (rule, error) {
	r := rule{mode: Mode(mode)}
	if mode != "" && r.mode != Server && r.mode != Agent {
		return rule{}, fmt.Errorf("mode %q is neither server nor agent", mode)
	}
	if until != "" {
		v, err := semver.StrictNewVersion(until)
		if err != nil {
			return rule{}, fmt.Errorf("until %q: %w", until, err)
		}
		r.until = v
	}
	if since == "" {
		return r, nil
	}
	for part := range strings.SplitSeq(since, ",") {
		text, agent := strings.CutPrefix(part, "agent=")
		v, err := semver.StrictNewVersion(text)
		if err != nil {
			return rule{}, fmt.Errorf("since %q: %w", part, err)
		}
		if agent {
			r.sinceAgent = v
		} else {
			r.since = v
		}
	}
	return r, nil
}

var versions sync.Map // string → *semver.Version

// mustVersion parses a constant; the cache is bounded by the source code.
func mustVersion(s string) *semver.Version {
	if v, ok := versions.Load(s); ok {
		return v.(*semver.Version)
	}
	v, err := semver.StrictNewVersion(s)
	if err != nil {
		panic(fmt.Sprintf("gate: version %q: %v", s, err))
	}
	versions.Store(s, v)
	return v
}
