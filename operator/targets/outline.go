package targets

import (
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Outline has those labels of a group that [Dropper.Names] returns, by their index there.
type Outline struct {
	// Targets is the number of targets.
	Targets int
	// Shared are the values of the labels that all targets share; empty if they share none.
	Shared []string
	// Own reports whether a target may have this label itself, and not only its group.
	Own []bool
}

// Dropper decides whether groups are dropped as a whole. It is not safe for concurrent use.
type Dropper struct{ *evaluation }

// Dropper returns the Dropper of a job.
func (j *Job) Dropper() Dropper { return Dropper{newEvaluation(j, 0)} }

// Names returns the labels on which [Dropper.Step] depends.
func (d Dropper) Names() []model.LabelName { return d.sieve.names }

// Step returns the index of the step that drops all targets of a group independently of the targets' own labels: up to
// that step, all steps only read labels of the group. It returns -1 if there is none, or if it is expensive to find
// out.
func (d Dropper) Step(o Outline) int {
	d.spent = 0 // each group has its own budget
	return d.step(o)
}

func (d Dropper) step(o Outline) int {
	defer d.end()
	d.lb.Reset(labels.EmptyLabels())
	size := 0
	for i := range d.sieve.names {
		size += d.sieve.set(d.lb, i, o.Shared[i], 0)
	}
	if !d.affordable(&d.sieve.costs, size) {
		return -1
	}
	at := d.sieve.dropAt(d.lb, 0, 0, min(d.sieve.steps, d.common))
	own := func(name model.LabelName) bool {
		i := slices.Index(d.sieve.names, name)
		return i >= 0 && o.Own[i]
	}
	if at < 0 || !d.sieve.same(at, own) {
		return -1
	}
	return at
}

// Drops reports whether [Dropper.Step] finds a step for a group. mayHave reports whether a target may have a label of
// its own. Drops returns false after many groups whose steps are expensive.
func (d Dropper) Drops(group model.LabelSet, mayHave func(model.LabelName) bool) bool {
	if d.spent > slowSteps {
		return false
	}
	return d.step(d.Outline(group, mayHave)) >= 0
}

// Outline returns the outline of a group with these labels, without the number of targets. mayHave reports whether a
// target may have a label of its own.
func (d Dropper) Outline(group model.LabelSet, mayHave func(model.LabelName) bool) (o Outline) {
	for _, name := range d.sieve.names {
		o.Shared, o.Own = append(o.Shared, string(group[name])), append(o.Own, mayHave(name))
	}
	return o
}
