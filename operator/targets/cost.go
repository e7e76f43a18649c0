package targets

import (
	"context"
	"fmt"
	"iter"
	"math"
	"regexp/syntax"
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"golang.org/x/sync/semaphore"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// costs is an upper bound of the cost of the relabel steps of a job, computed without running them. Matching
// takes up to the size of the expression times the length of the text, and a replacement may repeat the text.
type costs struct {
	steps []stepCost
	slots int // labels that steps write
	// seeds are the sizes of the label values that every target has. allSeeds is their total, including names.
	seeds    map[model.LabelName]int
	allSeeds int
	// free is a total size of labels at which all steps together stay below most for any labels. rate
	// is the cost per byte at that size.
	free, rate int
	most       int // maximum cost of the steps for one target
}

// stepCost is the part of a step's cost that does not depend on the target.
type stepCost struct {
	at      int               // index among all steps
	program int               // size of the expression
	once    bool              // the expression visits each letter once
	runs    int               // number of shards that run it
	sources []model.LabelName // labels that make up the text
	slots   []int             // slots of the sources; -1 for labels that no step writes
	joints  int               // bytes of separators
	all     bool              // reads all labels
	writes  int               // slot that it writes; -1 for none, or for any label
	anyname bool              // writes labels of any name
	times   int               // upper bound of how often the result repeats the match
	literal int               // other bytes of the result
}

// costOf computes the costs of the steps with the given indices.
func (j *Job) costOf(indices iter.Seq[int]) costs {
	slots := map[string]int{}
	slotOf := func(name string) int {
		if slot, known := slots[name]; known {
			return slot
		}
		return -1
	}
	out := costs{seeds: map[model.LabelName]int{}, most: budget.MatchSteps / j.share}
	lb := labels.NewBuilder(labels.EmptyLabels())
	populate(lb, j.shards[0], nil, nil)
	lb.Range(func(l labels.Label) {
		out.seeds[model.LabelName(l.Name)] = len(l.Value)
		out.allSeeds += len(l.Name) + len(l.Value)
	})
	for i := range indices {
		c := j.shards[0].RelabelConfigs[i]
		s := stepCost{at: i, program: 1, runs: 1, writes: -1, sources: slices.Clone(c.SourceLabels), joints: len(c.Separator) * len(c.SourceLabels)}
		if i >= j.common {
			s.runs = len(j.shards)
		}
		switch c.Action {
		case relabel.Keep, relabel.Drop, relabel.Replace, relabel.LabelMap, relabel.LabelDrop, relabel.LabelKeep:
			if parsed, err := regexcost.Parse(c.Regex.String()); err == nil {
				s.program, s.once = regexcost.Of(parsed), straight(parsed)
			}
		case relabel.KeepEqual, relabel.DropEqual:
			s.sources = append(s.sources, model.LabelName(c.TargetLabel))
		}
		for _, name := range s.sources {
			s.slots = append(s.slots, slotOf(string(name)))
		}
		switch c.Action {
		case relabel.Replace:
			s.times, s.literal = strings.Count(c.Replacement, "$")+strings.Count(c.TargetLabel, "$"), len(c.Replacement)
			s.anyname = strings.Contains(c.TargetLabel, "$")
		case relabel.Lowercase, relabel.Uppercase:
			s.times = 3 // changing case may lengthen a letter
		case relabel.HashMod:
			s.literal = 20
		case relabel.LabelMap:
			s.all, s.anyname, s.times, s.literal = true, true, strings.Count(c.Replacement, "$"), len(c.Replacement)
		case relabel.LabelDrop, relabel.LabelKeep:
			s.all = true
		}
		if s.times+s.literal > 0 && !s.anyname {
			if slotOf(c.TargetLabel) < 0 {
				slots[c.TargetLabel] = len(slots)
			}
			s.writes = slots[c.TargetLabel]
		}
		out.steps = append(out.steps, s)
	}
	out.slots = len(slots)
	out.free = out.freeSize()
	if out.free > 0 {
		out.rate = out.most/out.free + 1
	}
	return out
}

// straight reports whether an expression has no repetition. As expressions of relabel steps are
// anchored, each of its instructions then visits one letter of a text.
func straight(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return false
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !straight(sub) })
}

// freeSize returns the value of free, found by halving the maximum.
func (c *costs) freeSize() int {
	for size := budget.LabelBytes; size > 0; size /= 2 {
		if n, _ := c.bound(size, func(model.LabelName) int { return size }); n <= c.most {
			return size
		}
	}
	return 0
}

// bound returns an upper bound of the cost of the steps for a target, and the index of the most expensive step.
//
// size: of all discovered labels, in bytes; length: returns that of one.
func (c *costs) bound(size int, length func(model.LabelName) int) (cost, worst int) {
	var few [64]int
	written := few[:]
	if c.slots > len(few) {
		written = make([]int, c.slots)
	}
	anyLabel, most := 0, 0 // bytes written to labels of any name
	for i := range c.steps {
		s := &c.steps[i]
		text := s.joints
		for k, name := range s.sources {
			n := length(name)
			if slot := s.slots[k]; slot >= 0 {
				n = max(n, written[slot])
			}
			text += max(n, anyLabel)
		}
		matched := text
		if s.all {
			matched = size + anyLabel
			for _, n := range written[:c.slots] {
				matched += n
			}
			text = matched
		}
		if n := s.literal + s.times*text; s.anyname {
			anyLabel = max(anyLabel, n, matched)
		} else if s.writes >= 0 {
			written[s.writes] = max(written[s.writes], n)
		}
		if text > budget.LabelBytes || s.literal+s.times*text > budget.LabelBytes {
			return math.MaxInt32, s.at
		}
		own := s.runs * (s.program + matched)
		if !s.once {
			own = s.runs * s.program * (matched + 1)
		}
		if cost += own; own > most {
			most, worst = own, s.at
		}
	}
	return cost, worst
}

// sizeOf returns the size of labels in bytes.
func sizeOf(set model.LabelSet) (n int) {
	for name, value := range set {
		n += len(name) + len(value)
	}
	return n
}

// affordable charges a target whose labels have the given total size, and reports whether the cost is low for any
// labels of that size, so that the labels need not be measured one by one.
func (e *evaluation) affordable(c *costs, size int) bool {
	cost := size * c.rate
	if size > c.free || e.spent+cost > budget.JobMatchSteps/e.share/2 {
		return false
	}
	e.spent += cost
	e.alone()
	return true
}

const tooManyOthers = "too expensive to evaluate: the other targets of the job have taken all time that one job may take"

// afford charges the steps for a target whose labels have the given total size. If the cost exceeds
// the budget, the state of the target becomes unknown.
func (e *evaluation) afford(r *Row, c *costs, size int) bool {
	if e.affordable(c, size) {
		return true
	}
	cost, step := c.bound(size, func(name model.LabelName) int { return max(len(r.Label(name)), c.seeds[name]) })
	switch {
	case cost > c.most:
		r.Message = fmt.Sprintf("too expensive to evaluate: %s matches a long regular expression with a long text, or makes one", e.Origins[step].Path)
	case e.exact+cost > budget.JobMatchSteps/e.share:
		r.Message = tooManyOthers
	default:
		e.exact += cost
		e.alone()
		return true
	}
	r.State = Unknown
	return false
}

// affordAll charges a step that reads every label, before it is run: it compares each of them with all that it writes
// or deletes. A labelmap can double their number, so that twenty steps make millions of one label. If the cost exceeds
// the budget, the state of the target becomes unknown.
func (e *evaluation) affordAll(r *Row, step int, action relabel.Action) bool {
	n := 0
	e.lb.Range(func(labels.Label) { n++ })
	if action == relabel.LabelMap {
		n *= 2
	}
	e.all += n * n
	e.exact += n * n
	e.alone()
	switch {
	case e.all > e.costs.most:
		r.Message = fmt.Sprintf("too expensive to evaluate: %s reads too many labels of the target, or makes them", e.Origins[step].Path)
	case e.exact > budget.JobMatchSteps/e.share:
		r.Message = tooManyOthers
	default:
		return true
	}
	r.State, r.Shards = Unknown, nil
	return false
}

// mayFollow reports whether all steps can be run for a target. For a target that the sieve drops, the
// steps that the sieve skips may be too expensive.
func (j *Job) mayFollow(r *Row) bool {
	if r.State == Unknown {
		return false
	}
	c := &j.costs
	cost, _ := c.bound(sizeOf(r.own)+sizeOf(r.shared)+c.allSeeds, func(name model.LabelName) int { return max(len(r.Label(name)), c.seeds[name]) })
	return cost <= c.most
}

// wholeJobs is the number of jobs of one object that get a full job budget each. Objects with more
// jobs share that total.
const wholeJobs = 10

// shares sets the share of each job. The names of an object's jobs differ only in the number at the end.
func shares(jobs []Job) {
	of := map[string]int{}
	for i := range jobs {
		of[objectOf(jobs[i].Name)]++
	}
	for i := range jobs {
		jobs[i].share = max(1, of[objectOf(jobs[i].Name)]/wholeJobs)
	}
}

// objectOf returns the name of a job without the number at the end.
func objectOf(job string) string {
	if i := strings.LastIndexByte(job, '/'); i >= 0 {
		return job[:i]
	}
	return job
}

// slowSteps is the number of steps above which an evaluation needs a place in [slow].
const slowSteps = 20_000_000

// slow limits concurrent evaluations above slowSteps to half of the CPUs.
var slow = semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))

// alone acquires a place in [slow] once the evaluation exceeds slowSteps. Those that take turns have none: they would wait for it
// while others wait for their turn.
func (e *evaluation) alone() {
	if e.slow || e.exact+e.spent <= slowSteps {
		return
	}
	e.slow = true
	if e.inTurns != nil {
		e.inTurns(true)
		return
	}
	_ = slow.Acquire(context.Background(), 1) // fails only with the context
}

// end releases the place in [slow], if any.
func (e *evaluation) end() {
	if e.slow && e.inTurns == nil {
		slow.Release(1)
	}
	e.slow = false
}
