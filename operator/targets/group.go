package targets

import "github.com/prometheus/prometheus/discovery/targetgroup"

// Outcome is what becomes of a target as far as its group alone decides: other groups of the
// job may have the same target, and targetLimit counts all.
type Outcome struct {
	// State is Kept, Dropped, Invalid or Duplicate; Unknown when it is too expensive to say.
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
	_, out := j.Group(group)
	return out
}

// Group evaluates one group, of which the result knows the details.
func (j *Job) Group(group *targetgroup.Group) (Result, []Outcome) {
	e := newEvaluation(j, len(group.Targets))
	defer e.end()
	e.group(group)
	return Result{Rows: e.rows, job: j}, e.outcomes()
}

func (e *evaluation) outcomes() []Outcome {
	keys := make([]map[int]string, len(e.winners)) // by shard and row
	for shard, winners := range e.winners {
		keys[shard] = make(map[int]string, len(winners))
		for key, row := range winners {
			keys[shard][row] = key
		}
	}
	out := make([]Outcome, len(e.rows))
	for i, row := range e.rows {
		out[i] = Outcome{State: row.State, Shards: row.Shards}
		if row.Drop != nil {
			out[i].Step = row.Drop.Step
		}
		for _, shard := range row.Shards {
			out[i].Keys = append(out[i].Keys, keys[shard][i])
		}
	}
	return out
}

// Elsewhere says of a row of [Job.Group] that a target of another group is scraped in its
// place.
func (r Result) Elsewhere(i int) {
	row := &r.Rows[i]
	row.State, row.Shards, row.Message, row.winner = Duplicate, nil, sameTarget, -1
}

// Beyond says of a row of [Job.Group] that the shards have too many targets.
func (r Result) Beyond(i int) {
	r.Rows[i].State, r.Rows[i].Shards = OverLimit, nil
	r.Rows[i].Message = "the job has more targets than targetLimit: none of them is scraped"
}

// Gaps are the discoveries of the job that nobody looks at but the running servers.
func (j *Job) Gaps() []Gap { return j.gaps(nil) }

// TargetLimit is the number of targets above which a shard scrapes none; 0 for any number.
func (j *Job) TargetLimit(shard int) int { return int(j.shards[shard].TargetLimit) }
