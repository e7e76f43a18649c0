package lint

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"slices"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// recorded is a finding in a list of findings, with the workloads that it holds for.
type recorded struct {
	list   *[]Finding
	at     int
	owners big.Int // the numbers of its Workloads in owners.numbers
}

// owners numbers workloads by name.
type owners struct {
	numbers map[string]int
	names   []string
}

// own adds a workload to those that a finding holds for.
func (o *owners) own(r *recorded, name string) {
	n, known := o.numbers[name]
	if !known {
		if o.numbers == nil {
			o.numbers = map[string]int{}
		}
		n = len(o.names)
		o.numbers[name], o.names = n, append(o.names, name)
	}
	if r.owners.Bit(n) == 0 {
		r.owners.SetBit(&r.owners, n, 1)
		f := &(*r.list)[r.at]
		f.Workloads = append(f.Workloads, o.names[n])
	}
}

// capture holds the findings of a part of an examination in their order.
type capture []captured

// captured is one of these findings.
type captured struct {
	*recorded
	owned bool // recorded for a workload
}

// capture runs do and returns the findings that it records.
func (l *linter) capture(do func()) capture {
	before := l.capturing
	l.capturing = &capture{}
	do()
	out := *l.capturing
	l.capturing = before
	return out
}

// uncaptured suspends the capture of findings until the returned function is called.
func (l *linter) uncaptured() (done func()) {
	before := l.capturing
	l.capturing = nil
	return func() { l.capturing = before }
}

// replay records the findings for another workload.
func (l *linter) replay(c capture, owner string) {
	for _, r := range c {
		if r.owned {
			l.owners.own(r.recorded, owner)
		}
	}
}

// alike are workloads that differ in their names and labels only, and therefore select the same objects and compile them
// to the same. Thousands of them are examined with their objects once.
type alike struct {
	kept  bool // the results of the first one are in memory
	first int  // its index in linter.made
	// remarks are the findings about the objects that the first one selects. They hold for all once the second one had the
	// same: then they do not depend on the name.
	remarks *capture
	proved  bool
	// hints are the findings about the targets of these objects, and uses the objects; nil until they are known.
	hints *capture
	uses  []nearmiss.Use
}

// alikeOf returns the workloads that are like w, with the outcome of reconciling it; nil for an outcome with an error,
// a workload that stands in for others, and an Alertmanager, whose global settings may be in a Secret with its name.
func (l *linter) alikeOf(w dryrun.Workload, out dryrun.Outcome) *alike {
	if _, is := w.Object.(*v1.Alertmanager); is || out.Err != nil || l.standsIn(w.String()) {
		return nil
	}
	o := w.Object.DeepCopyObject().(v1.Workload)
	o.SetName("")
	o.SetUID("")
	o.SetLabels(nil)
	text, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	key := sha256.Sum256(slices.Concat([]byte(w.Kind.Kind+"\x00"), text))
	a := l.alike[key]
	if a == nil {
		a = &alike{}
		l.alike[key] = a
		return a
	}
	if !a.kept || !slices.EqualFunc(out.Results, l.made[a.first].outcome.Results, sameResult) {
		return nil
	}
	return a
}

// sameResult reports whether an object was compiled to the same for two workloads with equal specs.
func sameResult(a, b fragments.Result) bool {
	if a.Object != b.Object || a.File != b.File || (a.Err == nil) != (b.Err == nil) || a.Err != nil && a.Err.Error() != b.Err.Error() {
		return false
	}
	one, is := a.Text.(*document.Piece)
	other, isToo := b.Text.(*document.Piece)
	return is == isToo && one == other
}

// selected reports the findings about the objects that a workload selects.
func (l *linter) selected(w dryrun.Workload, made dryrun.Outcome, a *alike) {
	all := func() {
		l.results(w, made.Results)
		if made.Err == nil && l.advises && !l.standsIn(w.String()) {
			l.repeatedOver(w, made.Results)
			l.repeatedTargets(w, made.Results)
		}
	}
	switch {
	case a == nil:
		all()
	case a.proved:
		l.replay(*a.remarks, w.String())
	case a.remarks == nil:
		found := l.capture(all)
		a.remarks = &found
	default:
		a.proved = slices.Equal(*a.remarks, l.capture(all))
	}
}

// targets reports the findings about the targets of the objects that a workload selects, and returns the objects.
func (l *linter) targets(view *nearmiss.View, m made) []nearmiss.Use {
	w, a := m.workload, m.alike
	if a != nil && a.hints != nil {
		l.replay(*a.hints, w.String())
		return a.uses
	}
	var uses []nearmiss.Use
	captured := l.capture(func() {
		results := l.outcome(m).Results
		uses = l.reader.Uses(w, dryrun.Outcome{Results: results})
		found := view.Assumed
		if !l.standsIn(w.String()) && m.outcome.Err == nil {
			found = func(uses []nearmiss.Use) []nearmiss.Found { return view.Used(w.Object, uses) }
		}
		for _, f := range l.credible(found(uses), uses) {
			l.hint(f.Use, f.Hint, w.String())
		}
		l.webhooks(view, w, results)
		if !l.standsIn(w.String()) {
			l.jobNames(view, w, results, uses)
			l.droppedMetrics(w, results)
		}
	})
	if a != nil && a.kept && !view.Isolates() { // network policies select pods, which have the name of the workload
		a.hints, a.uses = &captured, uses
	}
	return uses
}
