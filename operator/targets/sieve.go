package targets

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"github.com/prometheus/prometheus/scrape"
)

// sieve is the first relabel steps of a job, those before the first that looks at every label
// of a target. Which targets they drop depends on few labels, so that most targets that are
// dropped are so without their other labels.
type sieve struct {
	// steps is the number of steps; at most the shortest of all shards.
	steps int
	// names are the labels that matter.
	names []model.LabelName
	// shards have what differs between them.
	shards []sieveShard
	// costs of the steps that are run.
	costs costs
}

type sieveShard struct {
	// seeds are the values of names in a target without labels.
	seeds []string
	// run are the steps that matter to what is dropped, with their indices.
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
		scrape.PopulateDiscoveredLabels(lb, c, nil, nil)
		for _, name := range out.names {
			out.shards[i].seeds = append(out.shards[i].seeds, lb.Get(string(name)))
		}
	}
	return out
}

// fewLabels is the number of first steps that read no labels but those that they name.
func fewLabels(steps []*relabel.Config) int {
	for i, step := range steps {
		switch step.Action {
		case relabel.Keep, relabel.Drop, relabel.KeepEqual, relabel.DropEqual, relabel.Replace, relabel.Lowercase, relabel.Uppercase, relabel.HashMod:
		default:
			return i
		}
	}
	return len(steps)
}

// deciding are the steps that drop targets or write labels which such steps read, and adds
// the labels that they read.
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

// populate gives the builder the labels of a target that matter, as
// scrape.PopulateDiscoveredLabels gives it all, and returns the size of their values.
func (s *sieve) populate(lb *labels.Builder, r *Row, shard int) (size int) {
	lb.Reset(labels.EmptyLabels())
	for i, name := range s.names {
		value := r.Label(name)
		if value == "" {
			value = s.shards[shard].seeds[i]
		}
		if value != "" {
			lb.Set(string(name), value)
			size += len(value)
		}
	}
	return size
}

// dropAt runs the steps from one index up to another and returns the index of the one that
// drops the target, -1 if none does.
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
