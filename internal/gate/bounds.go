package gate

import (
	"fmt"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// bounds maps programs to the versions in one tag. A program without an entry is not
// gated.
type bounds map[Program]*bound

// bound is a version. A nil Version means that no version of the program satisfies it.
type bound struct{ *semver.Version }

// noVersion is the value of a since tag for a program of which no version supports the
// key.
const noVersion = "never"

// of returns the entry for the target, or nil if there is none.
func (b bounds) of(t Target) *bound {
	if t.Mode == Agent && b[agent] != nil {
		return b[agent]
	}
	return b[t.Program]
}

// reached reports whether the version of the target satisfies b. It returns true without
// an entry.
func (b bounds) reached(t Target) bool {
	at := b.of(t)
	return at == nil || at.Version != nil && !Release(t.Version).LessThan(at.Version)
}

// OtherProgram is the unmet need of a target if no version of its program supports the
// key.
const OtherProgram = "another program"

// need returns the unmet need of a target below the bound.
func (b *bound) need() string {
	if b.Version == nil {
		return OtherProgram
	}
	return ">= " + b.String()
}

// parseBounds parses "2.39.0,agent=2.54.0,thanos=never". An empty tag has no bounds.
func parseBounds(tag string) (bounds, error) {
	if tag == "" {
		return nil, nil
	}
	out := bounds{}
	for part := range strings.SplitSeq(tag, ",") {
		name, text, named := strings.Cut(part, "=")
		if !named {
			name, text = "", part
		}
		program := Program(name)
		switch {
		case named && program != agent && program != Alertmanager && program != Thanos:
			return nil, fmt.Errorf("%q: no program is called %q", tag, name)
		case out[program] != nil:
			return nil, fmt.Errorf("%q: two versions for the same program", tag)
		case text == noVersion:
			out[program] = &bound{}
			continue
		}
		v, err := semver.StrictNewVersion(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		out[program] = &bound{v}
	}
	return out, nil
}

var constants sync.Map // string -> bounds

// mustBounds parses a constant. The number of constants in the source code bounds the
// cache.
func mustBounds(s string) bounds {
	if s == "" {
		return nil
	}
	if b, ok := constants.Load(s); ok {
		return b.(bounds)
	}
	b, err := parseBounds(s)
	if err != nil {
		panic("gate: version " + err.Error())
	}
	constants.Store(s, b)
	return b
}
