package targets

import (
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
)

// Outcome is what becomes of a target as far as its group alone decides: other groups of the
// job may have the same target, and targetLimit counts all.
type Outcome struct {
	// State is Kept, Dropped, Invalid or Duplicate.
	State State
	// Step that dropped it, from 1; 0 unless it is dropped.
	Step int
	// Shards that scrape it, and for each what its labels and URL are: Prometheus scrapes
	// targets of equal keys once.
	Shards []int
	Keys   []string
}

// Outcomes are those of the targets of a group, in their order.
func (j *Job) Outcomes(group *targetgroup.Group) []Outcome {
	e := evaluation{Job: j, lb: labels.NewBuilder(labels.EmptyLabels()), winners: make([]map[string]string, len(j.shards))}
	for i := range e.winners {
		e.winners[i] = map[string]string{}
	}
	for _, own := range group.Targets {
		e.add(own, group.Labels)
	}
	keys := make([]map[string]string, len(e.winners)) // by shard and ID
	for shard, winners := range e.winners {
		keys[shard] = make(map[string]string, len(winners))
		for key, id := range winners {
			keys[shard][id] = key
		}
	}
	out := make([]Outcome, len(e.targets))
	for i, t := range e.targets {
		out[i] = Outcome{State: t.State, Shards: t.Shards}
		if t.Drop != nil {
			out[i].Step = t.Drop.Step
		}
		for _, shard := range t.Shards {
			out[i].Keys = append(out[i].Keys, keys[shard][t.ID])
		}
	}
	return out
}

// TargetLimit is the number of targets above which a shard scrapes none; 0 for any number.
func (j *Job) TargetLimit(shard int) int { return int(j.shards[shard].TargetLimit) }
