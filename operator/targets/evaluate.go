package targets

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
)

const sameTarget = "another target of the job has the same labels and URL"

// Found is the result of the discoveries of a job.
type Found struct {
	// Groups of discovered labels, without those of static_configs, which the job has.
	Groups []*targetgroup.Group
	// Gaps are the discoveries that could not be evaluated.
	Gaps []Gap
	// Looked are the keys of [Job.Others] that were evaluated.
	Looked []string
}

// Gap represents targets that may exist.
type Gap struct {
	// State is Forbidden if the workload has no permission to discover, Unknown otherwise.
	State State
	// Message describes what could not be evaluated and why.
	Message string
	// Refused is true when the caller lacks a permission; Forbidden means that the workload lacks
	// one.
	Refused bool
	// Possible (optional) has the known labels of the targets. The gap does not concern jobs that drop
	// them all.
	Possible *Possible
}

// evaluation is one run over the targets of a job.
type evaluation struct {
	*Job
	lb      *labels.Builder
	rows    []Row
	winners []map[string]int // by shard: labels → row
	drops   map[string]*Drop // by shard, relabel step and label values
	scratch []byte
	// spent is the estimated cost of the targets for which only an estimate was made, exact the computed cost of the
	// others.
	spent, exact int
	all          int  // cost of the steps that read every label of the current target
	slow         bool // expensive, see [evaluation.alone]
	// inTurns (optional) is called before each target, see [Job.OutcomesInTurns].
	inTurns func(slow bool)
}

// Evaluate returns the state of each target. Most labels of a target are only read if it is kept,
// or in [Result.Target].
func (j *Job) Evaluate(found Found) Result {
	result, _ := j.EvaluateWithin(context.Background(), found)
	return result
}

// EvaluateWithin is like [Job.Evaluate] but stops between two groups when the context is done.
//
// Errors: the error of the context.
func (j *Job) EvaluateWithin(ctx context.Context, found Found) (Result, error) {
	groups, n := slices.Concat(found.Groups, j.Static), 0
	for _, group := range groups {
		n += len(group.Targets)
	}
	e := newEvaluation(j, n)
	defer e.end()
	for _, group := range groups {
		if err := ctx.Err(); err != nil {
			return Result{job: j}, err // the caller has canceled it
		}
		e.group(group)
	}
	e.limit()
	for _, gap := range slices.Concat(found.Gaps, j.gaps(found.Looked)) {
		if gap.Possible == nil || j.mayScrape(gap.Possible) {
			e.rows = append(e.rows, Row{State: gap.State, Message: gap.Message})
		}
	}
	return Result{Rows: e.rows, job: j}, nil
}

// newEvaluation returns an evaluation with room for this number of targets.
func newEvaluation(j *Job, targets int) *evaluation {
	e := &evaluation{
		Job: j, lb: labels.NewBuilder(labels.EmptyLabels()), rows: make([]Row, 0, targets), winners: make([]map[string]int, len(j.shards)), drops: map[string]*Drop{},
	}
	for i := range e.winners {
		e.winners[i] = map[string]int{}
	}
	return e
}

// group evaluates the targets of a group. If the step that drops the first one, and those before it, only read labels
// of the group, it drops them all: most groups of a namespace belong to other jobs.
func (e *evaluation) group(group *targetgroup.Group) {
	for i, own := range group.Targets {
		r := Row{own: own, shared: group.Labels}
		if e.inTurns != nil {
			e.inTurns(e.slow)
		}
		e.decide(&r)
		e.rows = append(e.rows, r)
		if i == 0 && e.sifted(&r) && e.sieve.alike(r.Drop.Step-1, group.Targets) {
			for _, own := range group.Targets[1:] {
				r.own = own
				e.rows = append(e.rows, r)
			}
			return
		}
	}
}

// sifted reports whether a target is dropped by a step that is the same for all shards and reads few labels.
func (e *evaluation) sifted(r *Row) bool {
	return r.State == Dropped && r.Drop.Step <= min(e.sieve.steps, e.common)
}

// gaps returns the discoveries of the job that were not evaluated.
func (j *Job) gaps(looked []string) (out []Gap) {
	for _, key := range j.Others {
		if slices.Contains(looked, key) {
			continue
		}
		out = append(out, Gap{State: Unknown, Message: fmt.Sprintf("targets of %s are found by the running Prometheus only", key)})
	}
	if j.SDsDiffer {
		out = append(out, Gap{State: Unknown, Message: "the job uses variables of a shard in its discovery; targets are those of shard 0"})
	}
	return out
}

// decide evaluates a target on all shards.
func (e *evaluation) decide(r *Row) {
	e.all = 0
	sifted := min(e.sieve.steps, e.common)
	if !e.afford(r, &e.sieve.costs, e.sieve.populate(e.lb, r, 0)) {
		return
	}
	if at := e.sieve.dropAt(e.lb, 0, 0, sifted); at >= 0 {
		e.explain(r, 0, at)
		return
	}
	if !e.afford(r, &e.costs, sizeOf(r.own)+sizeOf(r.shared)+e.costs.allSeeds) {
		return
	}
	last, on := -1, 0 // the last step that any shard reaches, and that shard
	drops := func(shard, at int) {
		if at > last {
			last, on = at, shard
		}
	}
	if len(e.shards) > 1 && sifted < e.common {
		e.divide(r, drops)
	} else {
		e.sift(r, drops)
	}
	if r.State == "" {
		e.drop(r, on, last)
	}
}

// sift evaluates a target on each shard and reads all of its labels only if the sieve does not drop
// it. It calls drops for each shard and step that drop the target.
func (e *evaluation) sift(r *Row, drops func(shard, at int)) {
	var base labels.Labels
	if len(e.shards) > 1 {
		base = e.lb.Labels()
	}
	for shard, c := range e.shards {
		from := e.common
		switch {
		case from == 0:
			e.sieve.populate(e.lb, r, shard)
		case shard > 0:
			e.lb.Reset(base)
		}
		at := e.sieve.dropAt(e.lb, shard, from, e.sieve.steps)
		if at < 0 {
			populate(e.lb, c, r.own, r.shared)
			if at = e.dropAt(r, c.RelabelConfigs, 0); at < 0 {
				e.keep(r, shard)
			}
			if r.State == Unknown {
				return
			}
		}
		drops(shard, at)
	}
}

// divide runs the common steps once and then, for each shard, the steps that differ. It calls drops
// for each shard and step that drop the target.
func (e *evaluation) divide(r *Row, drops func(shard, at int)) {
	populate(e.lb, e.shards[0], r.own, r.shared)
	if at := e.dropAt(r, e.shards[0].RelabelConfigs[:e.common], 0); at >= 0 || r.State == Unknown {
		drops(0, at)
		return
	}
	base := e.lb.Labels()
	for shard, c := range e.shards {
		e.lb.Reset(base)
		if at := e.dropAt(r, c.RelabelConfigs, e.common); at >= 0 {
			drops(shard, at)
		} else {
			e.keep(r, shard)
		}
		if r.State == Unknown {
			return
		}
	}
}

// dropAt runs the steps from an index on and returns the index of the step that drops the target, -1 if none does.
// If they take too long, the state of the target becomes unknown.
func (e *evaluation) dropAt(r *Row, steps []*relabel.Config, from int) int {
	for i, step := range steps[from:] {
		if readsAll(step) && !e.affordAll(r, from+i, step.Action) {
			return -1
		}
		if !relabel.ProcessBuilder(e.lb, step) {
			return from + i
		}
	}
	return -1
}

// keep adds a target that no step drops to those of a shard. The builder must have its labels after
// the last step.
func (e *evaluation) keep(r *Row, shard int) {
	if r.State == Unknown {
		return
	}
	result, err := finish(e.lb)
	if err == nil && e.needsPort {
		err = e.checkPort(result)
	}
	if err != nil {
		e.invalid(r, shard, err)
		return
	}
	e.scratch = keyOf(result.Bytes(e.scratch))
	if winner, taken := e.winners[shard][string(e.scratch)]; taken {
		if r.State != Kept {
			r.State, r.Message, r.on, r.winner = Duplicate, sameTarget, shard, winner
		}
		return
	}
	e.winners[shard][string(e.scratch)] = len(e.rows)
	if r.State != Kept {
		r.State, r.Message, r.on = Kept, "", shard
	}
	r.Shards = append(r.Shards, shard)
}

// longKey is the maximum size of a key, in bytes.
const longKey = 1 << 10

// keyOf returns a key of labels, which also covers the URL, which is made from them: the labels themselves, or a digest if they
// are long, as each target of a job may have long ones.
func keyOf(text []byte) []byte {
	if len(text) <= longKey {
		return text
	}
	sum := sha256.Sum256(text)
	return append(append(text[:0], 0xff), sum[:]...)
}

// invalid records that a shard cannot scrape the target.
func (e *evaluation) invalid(r *Row, shard int, err error) {
	if r.State == "" {
		r.State, r.Message, r.on = Invalid, err.Error(), shard
	}
}

// limit applies targetLimit: a shard with more targets scrapes none of the job's targets.
func (e *evaluation) limit() {
	for shard, c := range e.shards {
		n := len(e.winners[shard])
		if c.TargetLimit == 0 || n <= int(c.TargetLimit) {
			continue
		}
		for i := range e.rows {
			r := &e.rows[i]
			at := slices.Index(r.Shards, shard)
			if at < 0 {
				continue
			}
			r.Shards = slices.Delete(r.Shards, at, at+1)
			if len(r.Shards) == 0 {
				r.State = OverLimit
				r.Message = fmt.Sprintf("the job has %d targets on shard %d and targetLimit is %d: none of them is scraped", n, shard, c.TargetLimit)
			}
		}
	}
}
