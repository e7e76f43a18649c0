package gate

import (
	"fmt"

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

// Program is what reads a document.
type Program string

const (
	// Prometheus is meant by the part of a tag that names no program.
	Prometheus Program = ""
	// Alertmanager has versions of its own.
	Alertmanager Program = "alertmanager"
	// Thanos has versions of its own.
	Thanos Program = "thanos"

	// agent is a Prometheus in agent mode, where a tag tells it from a server.
	agent Program = "agent"
)

// String is the name as people write it.
func (p Program) String() string {
	switch p {
	case Alertmanager:
		return "Alertmanager"
	case Thanos:
		return "Thanos"
	}
	return "Prometheus"
}

// Target is what a document is written for.
type Target struct {
	// Program that reads it; a tag that says nothing about it gates nothing.
	Program Program
	// Version decides the gates. A pre-release sorts before its release:
	// 3.0.0-rc.1 does not satisfy since:"3.0.0".
	Version *semver.Version
	// Mode is empty for programs without modes; every mode tag then counts as met.
	Mode Mode
}

// AtLeast reports whether the target's version is since or later; true when
// since says nothing about the program.
//
// since: the form of the tag, "2.49.0" or "3.5.0,thanos=0.40.0"; panics when it
// does not parse, as it is always a constant.
func (t Target) AtLeast(since string) bool {
	return mustBounds(since).reached(t)
}

// Needs returns "" when the target has the version, else what is missing, for
// messages: "Thanos >= 0.40.0".
//
// since: as in [Target.AtLeast].
func (t Target) Needs(since string) string {
	b := mustBounds(since)
	if b.reached(t) {
		return ""
	}
	at := b.of(t)
	if at.Version == nil {
		return at.need() + " than " + t.Program.String()
	}
	return t.Program.String() + " " + at.need()
}

// Dropped is one key or list item that was left out.
type Dropped struct {
	// Path of the key in the document: "scrape_configs[3].enable_compression".
	Path string
	// Need is the unmet condition: ">= 2.49.0", "< 2.11.0", "server mode", or
	// [OtherProgram].
	Need string
}

// String is for people: "scrape_configs[3].enable_compression needs >= 2.49.0".
func (d Dropped) String() string { return d.Path + " needs " + d.Need }

// Versioned is a value that says itself since when it is understood.
type Versioned interface {
	// Since returns the form of the since tag, or "" when there is no minimum.
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
	since, until bounds
	mode         Mode
}

// need returns "" when r admits the target, else what is missing.
func (r rule) need(t Target) string {
	switch {
	case r.mode != "" && t.Mode != "" && r.mode != t.Mode:
		return string(r.mode) + " mode"
	case !r.since.reached(t):
		return r.since.of(t).need()
	case r.until.of(t) != nil && r.until.reached(t):
		return "< " + r.until.of(t).String()
	}
	return ""
}

// parseRule reads the three tags of a field.
func parseRule(since, until, mode string) (r rule, err error) {
	r.mode = Mode(mode)
	if mode != "" && r.mode != Server && r.mode != Agent {
		return rule{}, fmt.Errorf("mode %q is neither server nor agent", mode)
	}
	if r.since, err = parseBounds(since); err != nil {
		return rule{}, fmt.Errorf("since %w", err)
	}
	if r.until, err = parseBounds(until); err != nil {
		return rule{}, fmt.Errorf("until %w", err)
	}
	for _, at := range r.until {
		if at.Version == nil {
			return rule{}, fmt.Errorf("until %q: a key that always stays needs no until", until)
		}
	}
	return r, nil
}
