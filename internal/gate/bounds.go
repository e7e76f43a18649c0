package gate

import (
	"fmt"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// bounds are the versions that one tag names, by program; one without an entry
// is not bound.
type bounds map[Program]*bound

// bound is a version; nil inside means that no version reaches it.
type bound struct{ *semver.Version }

// noVersion is how a since tag says that no version of a program has the key.
const noVersion = "never"

// of returns the entry for the target, nil when there is none.
func (b bounds) of(t Target) *bound {
	if t.Mode == Agent && b[agent] != nil {
		return b[agent]
	}
	return b[t.Program]
}

// reached reports whether the target has the version that b names for it.
func (b bounds) reached(t Target) bool {
	at := b.of(t)
	return at == nil || at.Version != nil && !Release(t.Version).LessThan(at.Version)
}

// OtherProgram is what a target lacks when no version of its program has the key.
const OtherProgram = "another program"

// need is what a target below the bound lacks.
func (b *bound) need() string {
	if b.Version == nil {
		return OtherProgram
	}
	return ">= " + b.String()
}

// parseBounds reads "2.39.0,agent=2.54.0,thanos=never"; empty means no bounds.
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

var constants sync.Map // string → bounds

// mustBounds parses a constant; the cache is bounded by the source code.
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
