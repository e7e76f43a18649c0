package gate

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

// Mode is the mode in which a Prometheus runs.
type Mode string

const (
	// Server scrapes, stores, evaluates rules and serves queries.
	Server Mode = "server"
	// Agent scrapes and forwards samples.
	Agent Mode = "agent"
)

// Program is the program that reads a document.
type Program string

const (
	// Prometheus is the program of the part of a tag without a name.
	Prometheus Program = ""
	// Alertmanager has its own versions.
	Alertmanager Program = "alertmanager"
	// Thanos has its own versions.
	Thanos Program = "thanos"

	// agent is a Prometheus in agent mode, for tags that distinguish it from a server.
	agent Program = "agent"
)

// String returns the human-readable name.
func (p Program) String() string {
	switch p {
	case Alertmanager:
		return "Alertmanager"
	case Thanos:
		return "Thanos"
	}
	return "Prometheus"
}

// Target is the program and version for which a document is written.
type Target struct {
	// Program reads the document. A tag that does not mention it gates nothing.
	Program Program
	// Version is compared with the tags. A pre-release sorts before its release:
	// 3.0.0-rc.1 does not satisfy since:"3.0.0".
	Version *semver.Version
	// Mode is empty for programs without modes; every mode tag is then satisfied.
	Mode Mode
}

// AtLeast reports whether the target's version is since or later. It returns true if
// since does not mention the program.
//
// since: in the form of the tag, "2.49.0" or "3.5.0,thanos=0.40.0". AtLeast panics if it
// does not parse, because it is always a constant.
func (t Target) AtLeast(since string) bool {
	return mustBounds(since).reached(t)
}

// Needs returns "" if the target's version is since or later, and otherwise the unmet
// need for messages: "Thanos >= 0.40.0".
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

// Dropped is a key or list item that was omitted.
type Dropped struct {
	// Path of the key in the document: "scrape_configs[3].enable_compression".
	Path string
	// Need is the unmet condition: ">= 2.49.0", "< 2.11.0", "server mode", or
	// [OtherProgram].
	Need string
}

// String returns a human-readable form: "scrape_configs[3].enable_compression needs >=
// 2.49.0".
func (d Dropped) String() string { return d.Path + " needs " + d.Need }

// Versioned is a value that determines which versions support it.
type Versioned interface {
	// Since returns a version in the form of the since tag, or "" if there is no minimum.
	Since() string
}

// Gated is a value with conditions beyond a minimum version.
type Gated interface {
	// Allowed returns "" if the target supports the value, and otherwise the unmet need
	// in the form of [Dropped].
	Allowed(t Target) (need string)
}

// rule holds the parsed since, until and mode tags.
type rule struct {
	since, until bounds
	mode         Mode
}

// need returns "" if the target satisfies r, and otherwise the unmet need.
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

// parseRule parses the three tags of a field.
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
