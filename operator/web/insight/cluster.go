package insight

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/previews"
)

// Parts configures a [Cluster].
type Parts struct {
	// Reader reads the cluster. The objects that it returns are not modified. A [readers.Versioned]
	// is reread only after changes. A [readers.Feed] also notifies of changes.
	Reader readers.Reader
	// Setups are the kinds of workloads. They must not be shared: they cache compiled objects.
	Setups []engine.Setup
	Scopes engine.Scopes
	// Fresh returns setups with empty caches.
	Fresh   func() ([]engine.Setup, error)
	Options prometheus.Options
	// Targets provides targets; nil if they are not discovered.
	Targets TargetSource
	// Look (optional) returns where to search for near misses of objects without targets.
	Look func(context.Context, readers.Reader) nearmiss.Look
	// Finder (optional) returns a finder for the cluster with the objects in over applied. The
	// reader has these objects too.
	Finder func(r readers.Reader, over *discovery.Objects) preview.Finder
	// Loaded (optional) returns the configuration that a pod of a workload runs.
	Loaded func(workload *catalog.Row, pod types.NamespacedName) delivery.Loaded
	// Timeline (optional) returns the last changes of a workload, the last one first.
	Timeline func(workload *catalog.Row, key types.NamespacedName) []timeline.Change
	// Memory (optional) limits concurrent work. A preview waits for its share of it.
	Memory *inflight.Budget
	// Keep is the maximum age of a snapshot if the reader is not Versioned. Otherwise it is the
	// maximum pause before a reread. 0 defaults to a second.
	Keep time.Duration
	// Now (optional) is the clock.
	Now func() time.Time
}

// Cluster implements [Answers].
type Cluster struct {
	Parts
	snapshots snapshots
	drafts    drafts
	previews  *previews.Service
}

var _ Answers = (*Cluster)(nil)

// New returns a Cluster made of p.
func New(p Parts) *Cluster {
	if p.Keep == 0 {
		p.Keep = time.Second
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	return &Cluster{Parts: p, previews: previews.New(previews.Parts{
		Reader: p.Reader, Scopes: p.Scopes, Fresh: p.Fresh, Options: p.Options, Look: p.Look, Finder: p.Finder, Memory: p.Memory,
	}), snapshots: snapshots{keep: map[catalog.Ref]*kept{}, held: share.Ledger[catalog.Ref]{Room: int(inflight.Memory() / heldShare)}}}
}

// Targets implements [Answers].
func (c *Cluster) Targets(ctx context.Context, r access.Rights, q TargetQuery) (*Targets, error) {
	if c.Parts.Targets == nil {
		return nil, discoveryDisabled()
	}
	return c.Parts.Targets.Targets(ctx, r, q)
}

// Target implements [Answers].
func (c *Cluster) Target(ctx context.Context, r access.Rights, w Object, job, id, source string) (*Trace, error) {
	if c.Parts.Targets == nil {
		return nil, discoveryDisabled()
	}
	return c.Parts.Targets.Target(ctx, r, w, job, id, source)
}

// Preview implements [Answers].
func (c *Cluster) Preview(ctx context.Context, r access.Rights, body []byte) (*preview.Report, error) {
	return c.previews.Preview(ctx, r, body)
}

// Reshard implements [Answers].
func (c *Cluster) Reshard(ctx context.Context, r access.Rights, w Object, shards int) (*preview.Resharding, error) {
	return c.previews.Reshard(ctx, r, w.Ref(), shards)
}

func discoveryDisabled() error {
	return apierrors.NewServiceUnavailable("target discovery is disabled")
}

// counts returns the counts of a workload. It returns nil if they are not known or if the caller
// may not see all discovered objects, because counts reveal labels.
func (c *Cluster) counts(a *access.Checker, w catalog.Ref) *TargetCounts {
	if c.Parts.Targets == nil {
		return nil
	}
	out := c.Parts.Targets.Counts(w)
	if out == nil || a.ListsTargets("") && (!out.Nodes || a.ListsNodes()) && (!out.NamespaceLabels || a.MayResource("list", readers.Namespaces.GroupResource(), "")) {
		return out
	}
	a.Unread = access.AppendNotes(a.Unread, notCounted)
	return nil
}

// notCounted is the note for responses without counts of targets.
const notCounted = "targets are not counted here: you need permission to list pods or services in all namespaces, and nodes or namespaces where targets have their labels; Targets of a workload shows those that you may see"

// workload returns the current snapshot and the entry of a workload in it.
//
// Errors: the workload does not exist; its kind could not be read; the context has ended.
func (c *Cluster) workload(ctx context.Context, o Object) (*snapshot, *entry, error) {
	w, err := c.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := w.of(o)
	return w, e, err
}

// of returns the entry of a workload.
//
// Errors: it does not exist; its kind could not be read.
func (w *snapshot) of(o Object) (*entry, error) {
	if e, ok := w.byRef[o.Ref()]; ok {
		return e, nil
	}
	resource := o.GroupResource()
	if why, is := w.unlisted[o.Row]; is {
		return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("%s are not known: %s", resource, why))
	}
	return nil, w.notFound(o)
}

// notFound returns a not found error, or unavailable if the snapshot is outdated.
func (w *snapshot) notFound(o Object) error {
	if w.outdated != "" {
		return apierrors.NewServiceUnavailable(w.outdated)
	}
	return apierrors.NewNotFound(o.GroupResource(), o.NamespacedName.String())
}
