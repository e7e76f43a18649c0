package targets

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"github.com/prometheus/prometheus/scrape"
)

// errUnstable: labels have no order, so a labelmap of two of them to one has no certain result.
var errUnstable = errors.New("the relabel steps keep and drop it by turns: two labels are mapped to the same one")

// Found is what the discoveries of a job brought.
type Found struct {
	// Groups of discovered labels, without those of static_configs, which the job has.
	Groups []*targetgroup.Group
	// Gaps are what could not be looked at.
	Gaps []Gap
	// Looked are those of [Job.Others] that were looked at.
	Looked []string
}

// Gap stands for targets that may exist.
type Gap struct {
	// State is Forbidden or Unknown.
	State State
	// Message says what could not be looked at and why.
	Message string
}

// evaluation is one run over the targets of a job.
type evaluation struct {
	*Job
	lb      *labels.Builder
	targets []Target
	winners []map[string]string // by shard: labels and URL → ID
	kept    [][]int             // by target: shards on which it is the first of its kind
}

// Evaluate says what becomes of each target.
func (j *Job) Evaluate(found Found) Result {
	e := evaluation{Job: j, lb: labels.NewBuilder(labels.EmptyLabels()), targets: []Target{}, winners: make([]map[string]string, len(j.shards))}
	for i := range e.winners {
		e.winners[i] = map[string]string{}
	}
	for _, group := range slices.Concat(found.Groups, j.Static) {
		for _, own := range group.Targets {
			e.add(own, group.Labels)
		}
	}
	e.limit()
	for _, gap := range slices.Concat(found.Gaps, j.gaps(found.Looked)) {
		e.targets = append(e.targets, Target{Job: j.Name, State: gap.State, Shards: []int{}, Message: gap.Message})
	}
	return Result{e.targets}
}

// OnShard is the result as one shard sees it: targets that only others scrape are in state
// otherShard.
func (r Result) OnShard(shard int) Result {
	out := Result{slices.Clone(r.Targets)}
	for i := range out.Targets {
		if t := &out.Targets[i]; t.State == Kept && !slices.Contains(t.Shards, shard) {
			t.State = OtherShard
		}
	}
	return out
}

// gaps are the discoveries that the job has and nobody looked at.
func (j *Job) gaps(looked []string) (out []Gap) {
	for _, key := range j.Others {
		if slices.Contains(looked, key) {
			continue
		}
		out = append(out, Gap{Unknown, fmt.Sprintf("targets of %s are found by the running Prometheus only", key)})
	}
	if j.SDsDiffer {
		out = append(out, Gap{Unknown, "the job uses variables of a shard in its discovery; targets are those of shard 0"})
	}
	return out
}

// add evaluates one target on all shards.
func (e *evaluation) add(own, shared model.LabelSet) {
	scrape.PopulateDiscoveredLabels(e.lb, e.shards[0], own, shared)
	discovered := e.lb.Labels()
	t := Target{Job: e.Name, Shards: []int{}, ID: idOf(e.Name, discovered), Source: sourceOf(discovered), Discovered: discovered.Map()}
	var shards []int
	if step := e.dropAt(e.shards[0].RelabelConfigs[:e.common]); step >= 0 {
		e.drop(&t, own, shared, e.shards[0], step)
	} else {
		base := e.lb.Labels()
		shards = e.divide(&t, base, own, shared)
	}
	e.targets = append(e.targets, t)
	e.kept = append(e.kept, shards)
}

// dropAt relabels and returns the index of the step that drops the target, -1 if none does.
func (e *evaluation) dropAt(steps []*relabel.Config) int {
	for i, step := range steps {
		if !relabel.ProcessBuilder(e.lb, step) {
			return i
		}
	}
	return -1
}

// divide runs the steps that differ between shards on labels that are the result of the
// others. It returns the shards on which the target is scraped.
func (e *evaluation) divide(t *Target, base labels.Labels, own, shared model.LabelSet) (shards []int) {
	last, on := -1, 0 // the step that is reached on the way of the shard that gets furthest
	for shard, c := range e.shards {
		if e.common > 0 {
			e.lb.Reset(base)
		} else {
			scrape.PopulateDiscoveredLabels(e.lb, c, own, shared)
		}
		if at := e.dropAt(c.RelabelConfigs[e.common:]); at >= 0 {
			if at > last {
				last, on = at, shard
			}
			continue
		}
		if e.keep(t, shard, own, shared) {
			shards = append(shards, shard)
		}
	}
	if t.State == "" {
		e.drop(t, own, shared, e.shards[on], e.common+last)
	}
	return shards
}

// keep finishes a target that all steps of a shard keep, and reports whether that shard
// scrapes it.
func (e *evaluation) keep(t *Target, shard int, own, shared model.LabelSet) bool {
	c := e.shards[shard]
	result, err := scrape.PopulateLabels(e.lb, c, own, shared)
	if err == nil && result.IsEmpty() {
		err = errUnstable
	}
	if err != nil {
		if t.State == "" {
			t.State, t.Message = Invalid, err.Error()
			t.URL = urlOf(e.lb.Labels(), c)
		}
		return false
	}
	url := urlOf(result, c)
	key := result.String() + "\x00" + url
	if winner, taken := e.winners[shard][key]; taken {
		if t.State != Kept {
			t.State, t.Winner, t.URL, t.Labels = Duplicate, winner, url, public(result)
			t.Message = "another target of the job has the same labels and URL"
		}
		return false
	}
	e.winners[shard][key] = t.ID
	if t.State != Kept {
		t.State, t.Message, t.Winner, t.URL, t.Labels = Kept, "", "", url, public(result)
	}
	t.Shards = append(t.Shards, shard)
	return true
}

// limit applies targetLimit: a shard with more targets scrapes none of the job.
func (e *evaluation) limit() {
	for shard, c := range e.shards {
		n := len(e.winners[shard])
		if c.TargetLimit == 0 || n <= int(c.TargetLimit) {
			continue
		}
		for i := range e.targets {
			t := &e.targets[i]
			if !slices.Contains(e.kept[i], shard) {
				continue
			}
			t.Shards = slices.DeleteFunc(t.Shards, func(s int) bool { return s == shard })
			if len(t.Shards) == 0 {
				t.State = OverLimit
				t.Message = fmt.Sprintf("the job has %d targets on shard %d and targetLimit is %d: none of them is scraped", n, shard, c.TargetLimit)
			}
		}
	}
}

// urlOf is the URL that a target with the labels would have.
func urlOf(l labels.Labels, c *config.ScrapeConfig) string {
	if l.Get(model.AddressLabel) == "" {
		return ""
	}
	return scrape.NewTarget(l, c, nil, nil).URL().String()
}

// public are the labels that series have.
func public(l labels.Labels) map[string]string {
	out := map[string]string{}
	l.Range(func(l labels.Label) {
		if !strings.HasPrefix(l.Name, model.ReservedLabelPrefix) {
			out[l.Name] = l.Value
		}
	})
	return out
}

// idOf is a hash of the job's name and the discovered labels.
func idOf(job string, discovered labels.Labels) string {
	h := fnv.New64a()
	write := func(text string) { _, _ = h.Write(append([]byte(text), 0)) }
	write(job)
	discovered.Range(func(l labels.Label) {
		write(l.Name)
		write(l.Value)
	})
	return fmt.Sprintf("%016x", h.Sum64())
}
