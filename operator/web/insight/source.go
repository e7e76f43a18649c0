package insight

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// TargetSource provides the current targets of workloads.
type TargetSource interface {
	// Targets and Target implement [Answers].
	Targets(ctx context.Context, r access.Rights, q TargetQuery) (*Targets, error)
	Target(ctx context.Context, r access.Rights, w Object, job, id, source string) (*Trace, error)
	// Counts returns the counts of a workload if they are available without further work, or nil if
	// it is not followed. The result is immutable.
	Counts(workload catalog.Ref) *TargetCounts
}

// ScrapeSource is a [TargetSource] that can query running servers for the health of their targets.
type ScrapeSource interface {
	// CanQuery reports whether servers can be queried with permissions that all callers have.
	CanQuery() bool
	// Scrapes queries the servers of a workload about at least some targets: with those permissions, in which
	// case the result may be some seconds old, or else with those of the caller, if r is [Acting].
	Scrapes(ctx context.Context, r access.Rights, w Object, of []preview.Target) (*Scrapes, error)
}

// TargetCounts are the target counts of a workload.
type TargetCounts struct {
	preview.Counts
	// PerShard are the numbers of targets by shard; nil if there is only one.
	PerShard []int
	// Objects are the counts of each object that the workload uses.
	Objects map[catalog.Ref]preview.Counts
	// Overlaps are the objects with a URL that another job of the workload scrapes too. It may be
	// some seconds old; nil if it is not known.
	Overlaps map[catalog.Ref]bool
	// Nodes and NamespaceLabels are true if targets have labels of nodes or of namespaces.
	Nodes, NamespaceLabels bool
	// Synced is false until the cluster has been read: there may be more targets.
	Synced bool
}

// partial reports whether there may be more targets, on any shard.
func (t *TargetCounts) partial() bool { return !t.Synced || t.Forbidden+t.Unknown > 0 }

// perShard returns the numbers of targets by shard; nil if they are not known.
func (t *TargetCounts) perShard() []int {
	switch {
	case t == nil || t.partial():
		return nil
	case t.PerShard == nil:
		return []int{t.Kept}
	}
	return t.PerShard
}
