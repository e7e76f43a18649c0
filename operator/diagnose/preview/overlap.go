package preview

import (
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Overlap is a URL that a workload scrapes more than once.
type Overlap struct {
	Workload catalog.Ref `json:"workload"`
	URL      string      `json:"url"`
	// Targets lists the targets with the URL, in the order of the configuration.
	Targets []Target `json:"targets"`
}

// overlaps are the targets of a workload by URL.
type overlaps map[string][]Target

// add adds the scraped targets of a job.
func (o overlaps) add(w *Workload, object catalog.Ref, all targets.Result, q *Query) {
	for i := range all.Rows {
		t := &all.Rows[i]
		if t.State == targets.Kept && q.about(t) && (q.Shard == AllShards || slices.Contains(t.Shards, q.Shard)) {
			one := all.Target(i)
			o[one.URL] = append(o[one.URL], Target{w.Ref, object, one})
		}
	}
}

// list returns the URLs with several targets that match the query, sorted by URL.
func (o overlaps) list(w *Workload, q *Query) (out []Overlap) {
	for _, url := range slices.Sorted(maps.Keys(o)) {
		all := o[url]
		if len(all) < 2 || !slices.ContainsFunc(all, func(t Target) bool { return q.asksFor(t.Object, t.Job) }) {
			continue
		}
		for i := range all {
			all[i].Target = all[i].Target.Redacted()
		}
		out = append(out, Overlap{w.Ref, all[0].URL, all})
	}
	return out
}
