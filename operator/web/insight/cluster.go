package insight

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Parts are what a [Cluster] is made of.
type Parts struct {
	// Reader of the cluster. What it returns is not changed. One that is [readers.Versioned] is read
	// only when something changed, a [readers.Feed] tells of changes.
	Reader readers.Reader
	// Setups are the kinds of workloads that there are. Nobody else may compile with them:
	// they keep what they compiled.
	Setups []engine.Setup
	Scopes engine.Scopes
	// Fresh makes such setups that have compiled nothing.
	Fresh   func() ([]engine.Setup, error)
	Options prometheus.Options
	// Targets knows what is scraped; nil when nobody looks.
	Targets TargetSource
	// Look (optional) is where is looked for what the author of an object probably meant that
	// has no targets.
	Look func(context.Context, readers.Reader) nearmiss.Look
	// Finder (optional) finds targets in the cluster, and in objects that are put over what
	// the cluster has. The reader has these objects too.
	Finder func(r readers.Reader, over *discovery.Objects) preview.Finder
	// Loaded (optional) is what a pod of a kind of workload runs.
	Loaded func(workload *catalog.Row, pod types.NamespacedName) delivery.Loaded
	// Memory (optional) weighs what is worked on at a time; a preview waits for its part of it.
	Memory *inflight.Budget
	// Keep is how long what was read is taken for the truth if the reader is not Versioned, and
	// the longest time that a question waits before it is read again if it is; 0 for a second.
	Keep time.Duration
	// Now (optional) is the clock.
	Now func() time.Time
}

// Cluster implements [Answers].
type Cluster struct {
	Parts
	worlds worlds
	drafts drafts

	previews   atomic.Int32 // that are being made, or wait for that
	previewing *inflight.Budget
}

var _ Answers = (*Cluster)(nil)

// New answers questions about a cluster.
func New(p Parts) *Cluster {
	if p.Keep == 0 {
		p.Keep = time.Second
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	return &Cluster{Parts: p, previewing: inflight.New(1), worlds: worlds{keep: map[catalog.Ref]*kept{}, held: share.Ledger[catalog.Ref]{Room: int(inflight.Memory() / heldShare)}}}
}

// Targets implements [Answers].
func (c *Cluster) Targets(ctx context.Context, r Rights, q TargetQuery) (*Targets, error) {
	if c.Parts.Targets == nil {
		return nil, nobodyLooks()
	}
	return c.Parts.Targets.Targets(ctx, r, q)
}

// Target implements [Answers].
func (c *Cluster) Target(ctx context.Context, r Rights, w Object, job, id, source string) (*Trace, error) {
	if c.Parts.Targets == nil {
		return nil, nobodyLooks()
	}
	return c.Parts.Targets.Target(ctx, r, w, job, id, source)
}

func nobodyLooks() error {
	return apierrors.NewServiceUnavailable("targets are not known: nobody looks for them here")
}

// counts are those of a workload; nil when they are not known, and for a caller who may not see
// all that targets are found in: numbers tell of labels.
func (c *Cluster) counts(a *asker, w catalog.Ref) *TargetCounts {
	if c.Parts.Targets == nil {
		return nil
	}
	out := c.Parts.Targets.Counts(w)
	if out == nil || a.listsTargets("") && (!out.Nodes || a.listsNodes()) && (!out.NamespaceLabels || a.mayAny("list", readers.Namespaces.GroupResource(), "")) {
		return out
	}
	a.unread = appendNew(a.unread, notCounted)
	return nil
}

// notCounted is why there are no numbers of targets.
const notCounted = "targets are not counted here: you need permission to list pods or services in all namespaces, and nodes or namespaces where targets have their labels; Targets of a workload shows those that you may see"

// of finds a workload among those that were read.
//
// Errors: it does not exist; its kind could not be read.
func (w *world) of(o Object) (*entry, error) {
	if e, ok := w.byRef[o.Ref()]; ok {
		return e, nil
	}
	resource := o.GroupResource()
	if why, is := w.unlisted[o.Row]; is {
		return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("%s are not known: %s", resource, why))
	}
	return nil, w.notFound(o)
}

// notFound says that there is no such object, as far as that is known.
func (w *world) notFound(o Object) error {
	if w.outdated != "" {
		return apierrors.NewServiceUnavailable(w.outdated)
	}
	return apierrors.NewNotFound(o.GroupResource(), o.NamespacedName.String())
}
