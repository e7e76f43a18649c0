package prometheus

import (
	"iter"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// Monitors are the selected and compiled monitors by kind. They refer to the selected objects and the results of
// the last pass: a list of 10,000 monitors for each reconciliation would be most of what it allocates.
type Monitors []*monitorsOfKind

// monitorsOfKind are the monitors of one kind, sorted by namespace and name.
type monitorsOfKind struct {
	kind     string
	object   func(i int) catalog.Object
	compiled []compiled // belongs to the last pass unless changed is set
	changed  bool
}

// Monitor is a selected monitor with its compiled content.
type Monitor struct {
	Object catalog.Object
	Kind   string
	compiled
	among *monitorsOfKind
	at    int
}

// compiled is a compiled monitor with the values that every reconciliation needs: it must not wait for the memory of
// 10,000 monitors that have not changed.
type compiled struct {
	*CompiledMonitor
	piece   *document.Piece
	jobs    int32
	regexps int32
	usual   bool // accepted, with jobs, and without dependencies, files and dropped fields
}

func compiledOf(m *CompiledMonitor) compiled {
	return compiled{
		CompiledMonitor: m, piece: m.Piece, jobs: int32(m.Jobs), regexps: int32(m.Regexps),
		usual: m.Err == nil && len(m.Deps) == 0 && len(m.Files) == 0 && len(m.Dropped) == 0 && m.Piece != nil && m.Piece.Size() > 0,
	}
}

// inDocument reports whether the monitor is accepted and has jobs.
func (c *compiled) inDocument() bool { return c.usual || c.Err == nil && c.Piece.Size() > 0 }

// CompiledMonitor is a fragment whose YAML has been converted to a piece of the document.
// It is shared and must not be modified.
type CompiledMonitor struct {
	promconfig.Fragment // without YAML
	Piece               *document.Piece
}

// Weight implements [fragments.Weighted]. The TLS files share memory with the cached
// Secrets.
func (m *CompiledMonitor) Weight() (bytes int, files map[string]int) {
	return fragments.WeightOf(m, m.Files)
}

// All returns all monitors.
func (ms Monitors) All() iter.Seq[Monitor] {
	return ms.each(func(compiled) bool { return true })
}

// unusual returns the monitors that are rejected or have no jobs, dependencies, files or dropped fields: of 10,000
// monitors, few.
func (ms Monitors) unusual() iter.Seq[Monitor] {
	return ms.each(func(c compiled) bool { return !c.usual })
}

func (ms Monitors) each(want func(compiled) bool) iter.Seq[Monitor] {
	return func(yield func(Monitor) bool) {
		for _, among := range ms {
			for i := range among.compiled {
				if c := among.compiled[i]; want(c) && !yield(Monitor{among.object(i), among.kind, c, among, i}) {
					return
				}
			}
		}
	}
}

// leaveOut replaces the compiled content of the monitor by the reason why it is left out. The next pass still has the
// content.
func (m Monitor) leaveOut(why error) {
	if !m.among.changed {
		m.among.compiled, m.among.changed = slices.Clone(m.among.compiled), true
	}
	m.among.compiled[m.at] = compiledOf(&CompiledMonitor{Fragment: promconfig.Fragment{Err: why, Deps: m.Deps}})
}

// fitCosts rejects monitors until the server has memory for the regular expressions of the others. Those of one namespace may be
// thousands, each within the limits of one object.
func (ms Monitors) fitCosts() []share.LeftOut {
	total, objects := 0, 0
	for _, among := range ms {
		objects += len(among.compiled)
		for i := range among.compiled {
			total += int(among.compiled[i].regexps)
		}
	}
	const full = "%d instructions of regular expressions in relabelings, for which the server has memory"
	return share.Fit(total, objects, budget.ServerRegexps, full, func(yield func(share.Cost) bool) {
		for m := range ms.All() {
			if !yield(share.Cost{Namespace: m.Object.GetNamespace(), Name: m.Kind + "/" + m.Object.GetName(), Amount: int(m.regexps), LeaveOut: m.leaveOut}) {
				return
			}
		}
	})
}

// inDocument returns the monitors of a kind, if any of them is accepted and has jobs.
func (ms Monitors) inDocument(kind string) (out []*monitorsOfKind) {
	for _, among := range ms {
		if among.kind == kind && slices.ContainsFunc(among.compiled, func(c compiled) bool { return c.inDocument() }) {
			out = append(out, among)
		}
	}
	return out
}

// appendPieces appends the pieces of the accepted monitors.
func (among *monitorsOfKind) appendPieces(pieces []*document.Piece) []*document.Piece {
	pieces = slices.Grow(pieces, len(among.compiled))
	for i := range among.compiled {
		if c := &among.compiled[i]; c.inDocument() {
			pieces = append(pieces, c.piece)
		}
	}
	return pieces
}
