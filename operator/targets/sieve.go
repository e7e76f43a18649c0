package targets

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
)

// sieve has the leading relabel steps of a job, before the first one that reads every label of a
// target. Their decision depends on few labels, so most dropped targets are evaluated without their
// other labels.
type sieve struct {
	// steps is the number of steps; the minimum of all shards.
	steps int
	// names are the labels that the steps read.
	names []model.LabelName
	// shards has what differs between shards.
	shards []sieveShard
	// costs of the steps that are run.
	costs costs
}

type sieveShard struct {
	// seeds are the values of names in a target without labels.
	seeds []string
	// run are the steps that affect whether a target is dropped, with their indices.
	run []sieveStep
}

type sieveStep struct {
	at int
	*relabel.Config
}

func newSieve(shards []*config.ScrapeConfig) sieve {
	out := sieve{steps: len(shards[0].RelabelConfigs)}
	for _, c := range shards {
		out.steps = min(out.steps, fewLabels(c.RelabelConfigs))
	}
	read := map[string]bool{}
	for _, c := range shards {
		out.shards = append(out.shards, sieveShard{run: deciding(c.RelabelConfigs[:out.steps], read)})
	}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		out.names = append(out.names, model.LabelName(name))
	}
	lb := labels.NewBuilder(labels.EmptyLabels())
	for i, c := range shards {
		populate(lb, c, nil, nil)
		for _, name := range out.names {
			out.shards[i].seeds = append(out.shards[i].seeds, lb.Get(string(name)))
		}
	}
	return out
}

// fewLabels returns the number of leading steps that only read labels that they name.
func fewLabels(steps []*relabel.Config) int {
	if i := slices.IndexFunc(steps, readsAll); i >= 0 {
		return i
	}
	return len(steps)
}

// readsAll reports whether a step reads every label.
func readsAll(step *relabel.Config) bool {
	switch step.Action {
	case relabel.Keep, relabel.Drop, relabel.KeepEqual, relabel.DropEqual, relabel.Replace, relabel.Lowercase, relabel.Uppercase, relabel.HashMod:
		return false
	}
	return true
}

// deciding returns the steps that drop targets or write labels that such steps read. It adds the
// labels that they read to read.
func deciding(steps []*relabel.Config, read map[string]bool) (out []sieveStep) {
	for i, step := range slices.Backward(steps) {
		switch step.Action {
		case relabel.Keep, relabel.Drop:
		case relabel.KeepEqual, relabel.DropEqual:
			read[step.TargetLabel] = true
		default:
			if !strings.Contains(step.TargetLabel, "$") && !read[step.TargetLabel] {
				continue
			}
		}
		for _, name := range step.SourceLabels {
			read[string(name)] = true
		}
		out = append(out, sieveStep{i, step})
	}
	slices.Reverse(out)
	return out
}

// firstSteps is the number of steps up to which a group is looked at as a whole. The steps that are generated for a
// selector come first.
const firstSteps = 16

// alike reports whether no target of a group has a label of its own that the steps up to one of shard 0 read. It is
// false after firstSteps.
func (s *sieve) alike(step int, all []model.LabelSet) bool {
	return s.same(step, func(name model.LabelName) bool {
		return slices.ContainsFunc(all, func(own model.LabelSet) bool { _, has := own[name]; return has })
	})
}

// same is like alike, for targets that may have some labels of their own.
func (s *sieve) same(step int, mayHave func(model.LabelName) bool) bool {
	run := s.shards[0].run
	i := slices.IndexFunc(run[:min(len(run), firstSteps)], func(one sieveStep) bool { return one.at == step })
	if i < 0 {
		return false
	}
	for _, one := range run[:i+1] {
		if one.TargetLabel != "" && mayHave(model.LabelName(one.TargetLabel)) || slices.ContainsFunc(one.SourceLabels, mayHave) {
			return false
		}
	}
	return true
}

// populate sets the relevant labels of a target in the builder, as the function of that name does
// for all labels, and returns the size of their values.
func (s *sieve) populate(lb *labels.Builder, r *Row, shard int) (size int) {
	lb.Reset(labels.EmptyLabels())
	for i, name := range s.names {
		size += s.set(lb, i, r.Label(name), shard)
	}
	return size
}

// set sets the label with an index among names, or its value in a target without labels, and returns the size of the
// value.
func (s *sieve) set(lb *labels.Builder, i int, value string, shard int) int {
	if value == "" {
		value = s.shards[shard].seeds[i]
	}
	if value != "" {
		lb.Set(string(s.names[i]), value)
	}
	return len(value)
}

// dropAt runs the steps with indices in [from, to) and returns the index of the step that drops the
// target, -1 if none does.
func (s *sieve) dropAt(lb *labels.Builder, shard, from, to int) int {
	for _, step := range s.shards[shard].run {
		switch {
		case step.at < from:
		case step.at >= to:
			return -1
		case !relabel.ProcessBuilder(lb, step.Config):
			return step.at
		}
	}
	return -1
}
