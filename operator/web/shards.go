package web

import (
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Shards are the targets of each shard of a workload.
type Shards struct {
	Workload catalog.Ref `json:"workload"`
	Shards   int         `json:"shards"`
	// PerShard are the targets of each shard, from shard 0; null when they are not known.
	PerShard []int `json:"perShard"`
	// MaxToMean is the largest number of targets of a shard by the mean: 1 is even.
	MaxToMean float64 `json:"maxToMean,omitempty"`
	// Resharding is the comparison with another number of shards. Absent without the parameter "shards".
	Resharding *preview.Resharding `json:"resharding,omitempty"`
	// Unread lists what could not be read, with the reasons.
	Unread []string `json:"unread,omitempty"`
}

func (h *Handler) shards(q *request) (any, error) {
	number := q.query.number("shards")
	return answered(h, func(a insight.Answers) (*Shards, error) {
		w, err := a.Workload(q.Context(), q.rights, q.object)
		if err != nil {
			return nil, err
		}
		out := shardsOf(w)
		if number > 0 {
			out.Resharding, err = a.Reshard(q.Context(), q.rights, q.object, number)
		}
		return out, err
	})
}

// shardsOf returns the shards of a workload.
func shardsOf(w *insight.Workload) *Shards {
	out := &Shards{Workload: w.Workload, Shards: w.Shards, PerShard: w.PerShard, Unread: w.Unread}
	total := 0
	for _, n := range w.PerShard {
		total += n
	}
	if total > 0 {
		out.MaxToMean = float64(slices.Max(w.PerShard)*len(w.PerShard)) / float64(total)
	}
	return out
}
