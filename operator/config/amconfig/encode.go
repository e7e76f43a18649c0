package amconfig

import (
	"bytes"
	"errors"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// intervalsSince is the first version with mute_time_intervals. The tags of [Route] have
// the same version for the lists that refer to them.
const intervalsSince = "alertmanager=0.22.0"

// noVariables makes all references to variables literal. config-reloader substitutes $(NAME) with
// environment variables of its container, which tenants must not read, and the substitution could
// turn a name into that of another receiver.
func noVariables(string) bool { return true }

// encode encodes the items of each section as in the document. Paths of dropped keys are
// those in the object. literal is [gate.Items.Literal].
func (a *additions) encode(t gate.Target, literal func(string) bool) (map[Section][]byte, []gate.Dropped, error) {
	var (
		routes    []*Route
		intervals = a.intervals
		dropped   []gate.Dropped
		out       = map[Section][]byte{}
		left      = budget.GeneratedBytes
	)
	if a.route != nil {
		routes = append(routes, a.route)
	}
	if len(intervals) > 0 && !t.AtLeast(intervalsSince) {
		intervals = nil
		dropped = append(dropped, gate.Dropped{Path: "spec.muteTimeIntervals", Need: ">= 0.22.0"})
	}
	for _, s := range []struct {
		section Section
		path    string
		items   any
	}{
		{Routes, "spec.route", routes},
		{InhibitRules, "spec.inhibitRules", a.inhibit},
		{Receivers, "spec.receivers", a.receivers},
		{MuteIntervals, "spec.muteTimeIntervals", intervals},
	} {
		list := gate.NewItems(t, s.path, left)
		list.Literal = literal
		err := list.AddAll(s.items)
		if errors.Is(err, gate.ErrTooLong) {
			return nil, nil, errGenerated
		}
		if err != nil {
			return nil, nil, faults.At(s.path, err)
		}
		for _, d := range list.Dropped {
			d.Path = strings.Replace(d.Path, "spec.route[0]", "spec.route", 1) // there is only one
			dropped = append(dropped, d)
		}
		text := list.Text
		if s.section == Routes {
			text = indent(text)
		}
		left = max(1, left-len(text))
		if len(text) > 0 {
			out[s.section] = text
		}
	}
	return out, fieldPaths(dropped), nil
}

// indent indents items below a second-level key.
func indent(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for line := range bytes.Lines(text) {
		if len(line) > 1 { // empty lines are part of a text
			out = append(out, "  "...)
		}
		out = append(out, line...)
	}
	return out
}
