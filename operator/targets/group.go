package targets

import "github.com/prometheus/prometheus/discovery/targetgroup"

// Outcome is the result for a target , as far as it depends only on its group: other groups of the job may contain the
// same target, and targetLimit counts all groups.
type Outcome struct {
	// State is Kept, Dropped, Invalid or Duplicate; Unknown when evaluation is too expensive.
	State State
	// Step that dropped it, counted from 1; 0 unless it is dropped.
	Step int
	// Shards that scrape it, and for each the labels and URL as a key: Prometheus scrapes targets
	// with equal keys once.
	Shards []int
	Keys   []string
}

// Outcomes returns the outcome of each target of a group, in order.
func (j *Job) Outcomes(group *targetgroup.Group) []Outcome {
	_, out := j.Group(group)
	return out
}

// OutcomesInTurns is like [Job.Outcomes], and calls share before each target, which may wait until others had their turns. slow is
// true if the evaluation is expensive.
func (j *Job) OutcomesInTurns(group *targetgroup.Group, share func(slow bool)) []Outcome {
	e := newEvaluation(j, len(group.Targets))
	e.inTurns = share
	e.group(group)
	return e.outcomes()
}

// Group evaluates one group. The result also provides the details of its targets.
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

// Elsewhere marks a row of [Job.Group] as a duplicate of a target in another group.
func (r Result) Elsewhere(i int) {
	row := &r.Rows[i]
	row.State, row.Shards, row.Message, row.winner = Duplicate, nil, sameTarget, -1
}

// Beyond marks a row of [Job.Group] as over the target limit of its shards.
func (r Result) Beyond(i int) {
	r.Rows[i].State, r.Rows[i].Shards = OverLimit, nil
	r.Rows[i].Message = "the job has more targets than targetLimit: none of them is scraped"
}

// Gaps returns the discoveries of the job that only the running servers evaluate.
func (j *Job) Gaps() []Gap { return j.gaps(nil) }

// TargetLimit returns the number of targets above which a shard scrapes none; 0 means no limit.
func (j *Job) TargetLimit(shard int) int { return int(j.shards[shard].TargetLimit) }
