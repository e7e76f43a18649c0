package page

import (
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// shardsTab has the load of each shard.
type shardsTab struct {
	Shards int // of the workload
	Rows   []shardRow
	More   int
	Max    int
	Mean   string
	// Skew is the largest shard as a multiple of the mean; empty without targets.
	Skew string
	// Given is the other number of shards in the request; empty if it has none.
	Given      string
	Resharding *preview.Resharding
	Reshaped   []reshapedRow
	MoreShards int // of Reshaped
	Error      string
}

// reshapedRow is a shard with another number of shards. Empty numbers mean that it is not there.
type reshapedRow struct {
	Shard  int
	Series [4]string // by hash before and after, weighted before and after
}

// shardsAnswer is the twin with another number of shards.
type shardsAnswer struct {
	*insight.Workload
	Resharding *preview.Resharding `json:"resharding"`
}

type shardRow struct{ Shard, Targets int }

func shards(q *request, w *insight.Workload) (data, answer any, err error) {
	out := shardsTab{Shards: w.Shards}
	sum := 0
	for i, n := range w.PerShard {
		out.Rows, out.Max, sum = append(out.Rows, shardRow{i, n}), max(out.Max, n), sum+n
	}
	if sum > 0 {
		mean := float64(sum) / float64(len(w.PerShard))
		out.Mean = strconv.FormatFloat(mean, 'f', 1, 64)
		out.Skew = strconv.FormatFloat(float64(out.Max)/mean, 'f', 2, 64)
	}
	out.Rows, out.More = first(q.limit, out.Rows)
	if out.Given = q.query.Get("shards"); out.Given == "" {
		return out, w, nil
	}
	err = out.reshard(q)
	if apierrors.IsBadRequest(err) {
		out.Error = err.Error()
	}
	return out, shardsAnswer{w, out.Resharding}, err
}

// reshard adds the effects of another number of shards.
//
// Errors: 400 if it is no number, or the workload cannot have so many; those of [insight.Answers].
func (t *shardsTab) reshard(q *request) (err error) {
	n, err := strconv.Atoi(t.Given)
	if err != nil || n < 1 || n > v1.MaxShards {
		return bad("shards", "want a number from 1 to %d, not %q", v1.MaxShards, t.Given)
	}
	if t.Resharding, err = q.answers.Reshard(q.Context(), q.rights, q.of, n); err != nil {
		return err
	}
	r := t.Resharding
	for i := range max(r.From, r.To) {
		row := reshapedRow{Shard: i}
		for k, of := range [][]preview.Amount{r.Hash.Before, r.Hash.After, r.Weighted.Before, r.Weighted.After} {
			if i < len(of) {
				row.Series[k] = number(int(of[i].Series))
			}
		}
		t.Reshaped = append(t.Reshaped, row)
	}
	t.Reshaped, t.MoreShards = first(min(q.limit, 50), t.Reshaped)
	return nil
}
