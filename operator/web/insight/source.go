package insight

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
)

// TargetSource knows what workloads scrape now.
type TargetSource interface {
	// Targets and Target are those of [Answers].
	Targets(ctx context.Context, r Rights, q TargetQuery) (*Targets, error)
	Target(ctx context.Context, r Rights, w Object, job, id, source string) (*Trace, error)
	// Counts are those of a workload, as far as they are known without further work; nil
	// when nobody has looked yet. Nobody changes them.
	Counts(workload catalog.Ref) *TargetCounts
}

// TargetCounts are numbers of targets of a workload.
type TargetCounts struct {
	preview.Counts
	// PerShard are the numbers of targets that each shard scrapes; nil when there is one.
	PerShard []int
	// Objects are the counts of each object that the workload uses.
	Objects map[catalog.Ref]preview.Counts
	// Nodes and NamespaceLabels say that targets have labels of nodes or of namespaces.
	Nodes, NamespaceLabels bool
	// Synced is false while the cluster is still being read: there may be more targets.
	Synced bool
}

// partial reports whether something is not known: there may be more targets, on any shard.
func (t *TargetCounts) partial() bool { return !t.Synced || t.Forbidden+t.Unknown > 0 }

// perShard are the numbers of targets that each shard scrapes; nil when they are not known.
func (t *TargetCounts) perShard() []int {
	switch {
	case t == nil || t.partial():
		return nil
	case t.PerShard == nil:
		return []int{t.Kept}
	}
	return t.PerShard
}
