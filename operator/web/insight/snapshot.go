package insight

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// snapshot is an immutable snapshot of the cluster at one time, with the state of each workload.
type snapshot struct {
	version string // of the reader; empty if it has none
	at      time.Time
	took    time.Duration // time to read it
	number  uint64        // sequence number, from 1
	before  time.Time     // last time the previous snapshot was found current

	objects         map[*catalog.Row][]catalog.Object // that workloads can select
	namespaceLabels func(name string) (labels.Set, bool)
	// namespacesUnread is the reason why namespace labels are incomplete; empty if all of them are
	// known.
	namespacesUnread string
	lookups          map[*catalog.Row]*lookup // only during construction
	entries          []*entry                 // sorted by kind, namespace and name
	byRef            map[catalog.Ref]*entry
	behind           map[*entry]bool // entries that are older than the snapshot
	unselectedByAny  func() []catalog.Ref
	standings        func() map[catalog.Ref]ObjectRow
	spaces           func() map[*catalog.Row][]string // namespaces with objects of each kind, sorted
	outdated         string                           // note with the time of the snapshot, if the cluster has changed since

	pods      map[string][]*corev1.Pod // by [podKey]
	podLabels []labelNames
	sets      map[types.NamespacedName]*appsv1.StatefulSet
	daemons   map[types.NamespacedName]*appsv1.DaemonSet

	// unlisted are the kinds that could not be read, with the reason. unread are the reasons for
	// everything that could not be read.
	unlisted map[*catalog.Row]string
	unread   []string
	// notRunning are the reasons why pods, StatefulSets or DaemonSets of a namespace could not be
	// read.
	notRunning map[inNamespace]string
}

// snapshots holds the last snapshot and the caches from which the next one is built.
type snapshots struct {
	mu           sync.Mutex
	last         *snapshot
	begun        uint64    // number of snapshots begun
	foundCurrent time.Time // last time the last snapshot was found current
	idle         *time.Timer
	group        singleflight.Group

	keep map[catalog.Ref]*kept // accessed only by calls of group
	held share.Ledger[catalog.Ref]
	// known are the objects of the last snapshot, by kind.
	known  map[*catalog.Row]map[types.NamespacedName]catalog.Object
	labels map[string]string // labels of namespaces, as text
}

// pauseShare limits the share of time spent on reading a cluster that changes continuously. The
// pause after a read is this many times its duration, at most Keep.
const pauseShare = 10

// snapshot returns a current snapshot or, if the reader has no versions, a recent one. The cost of
// building a snapshot is proportional to the changes. Concurrent requests share one build, and wait
// for the next one if theirs may depend on a change that it misses.
//
// If there is a last snapshot, a request waits at most [longestReading]. It then gets that snapshot,
// with a note that it is outdated.
//
// Errors: the context has ended.
func (c *Cluster) snapshot(ctx context.Context) (*snapshot, error) {
	c.snapshots.used(c.release)
	last, begun := c.snapshots.state()
	if c.isCurrent(last) {
		c.snapshots.markCurrent(c.Now())
		return last, nil
	}
	late := time.NewTimer(longestReading)
	defer late.Stop()
	for {
		made := c.snapshots.group.DoChan("snapshot", func() (any, error) { return c.rebuild(context.WithoutCancel(ctx)), nil })
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			if last, _ := c.snapshots.state(); last != nil {
				return last.asOf(), nil
			}
		case result := <-made:
			if result.Err != nil {
				return nil, result.Err
			}
			if w := result.Val.(*snapshot); w != nil && (w.number > begun || c.isCurrent(w)) {
				return w, nil
			}
		}
	}
}

// longestReading is the maximum time that a request waits for a current snapshot.
const longestReading = 5 * time.Second

// asOf returns a copy of the snapshot with a note that it is outdated.
func (w *snapshot) asOf() *snapshot {
	out := *w
	out.outdated = fmt.Sprintf("this is as of %s: something has changed since, and reading it takes longer than %s", w.at.UTC().Format(time.RFC3339), longestReading)
	return &out
}

// state returns the last snapshot, nil if there is none, and the number of snapshots that were begun.
func (s *snapshots) state() (last *snapshot, begun uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.begun
}

// isCurrent reports whether the snapshot is current.
func (c *Cluster) isCurrent(w *snapshot) bool {
	switch {
	case w == nil:
		return false
	case w.version != "":
		return w.version == c.version()
	}
	return c.Now().Sub(w.at) < c.Keep
}

// rebuild returns the last snapshot if it is current. Otherwise it reads the cluster after a pause.
func (c *Cluster) rebuild(ctx context.Context) *snapshot {
	last, _ := c.snapshots.state()
	if c.isCurrent(last) {
		return last
	}
	if last != nil {
		time.Sleep(min(c.Keep, pauseShare*last.took) - c.Now().Sub(last.at.Add(last.took)))
	}
	c.snapshots.mu.Lock()
	c.snapshots.begun++
	w := &snapshot{number: c.snapshots.begun, before: c.snapshots.foundCurrent}
	c.snapshots.mu.Unlock()
	c.read(ctx, w)
	w.took = c.Now().Sub(w.at)
	c.snapshots.mu.Lock()
	defer c.snapshots.mu.Unlock()
	c.snapshots.last, c.snapshots.foundCurrent = w, w.at
	return w
}

// markCurrent records that the last snapshot is current.
func (s *snapshots) markCurrent(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.foundCurrent = now
}

// keepUnused is how long caches are kept without requests.
const keepUnused = 2 * time.Minute

// used restarts the timer that calls release when there are no requests.
func (s *snapshots) used(release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle == nil {
		s.idle = time.AfterFunc(keepUnused, release)
		return
	}
	s.idle.Reset(keepUnused)
}

// release drops all caches. The next request rereads everything.
func (c *Cluster) release() {
	_, _, _ = c.snapshots.group.Do("snapshot", func() (any, error) { // excludes concurrent builds
		for _, k := range c.snapshots.keep {
			k.close()
		}
		c.snapshots.keep, c.snapshots.known, c.snapshots.labels = map[catalog.Ref]*kept{}, nil, nil
		c.snapshots.held = share.Ledger[catalog.Ref]{Room: c.snapshots.held.Room}
		c.snapshots.mu.Lock()
		defer c.snapshots.mu.Unlock()
		c.snapshots.last, c.snapshots.foundCurrent = nil, time.Time{}
		return (*snapshot)(nil), nil
	})
}

// version returns the version of the reader; empty if it has none.
func (c *Cluster) version() string {
	if v, is := c.Reader.(readers.Versioned); is {
		return v.Version()
	}
	return ""
}

// read builds a snapshot.
func (c *Cluster) read(ctx context.Context, w *snapshot) {
	w.version, w.at = c.version(), c.Now()
	w.objects, w.byRef, w.unlisted = map[*catalog.Row][]catalog.Object{}, map[catalog.Ref]*entry{}, map[*catalog.Row]string{}
	wanted := readers.Wanted{NamespaceLabels: true, Packed: true}
	for _, s := range c.Setups {
		for _, selects := range s.Selects {
			wanted.Kinds = append(wanted.Kinds, readers.Kind{Row: selects.Row, In: c.Scopes.For(selects.Row)})
		}
	}
	for _, s := range c.Setups {
		wanted.Kinds = append(wanted.Kinds, readers.Kind{Row: s.Row, In: s.Instances})
	}
	read := readers.Read(ctx, c.Reader, wanted)
	for _, k := range wanted.Kinds {
		read.Objects[k.Row] = slices.DeleteFunc(read.Objects[k.Row], func(o readers.Object) bool { return !k.In.Has(o.GetNamespace()) })
		if !k.IsWorkload() {
			w.objects[k.Row] = read.Objects[k.Row]
		}
	}
	w.namespaceLabels = read.NamespaceLabels
	for _, m := range read.Missing {
		w.unread = append(w.unread, m.String())
		if m.Row == nil {
			w.namespacesUnread = m.String()
		} else {
			w.unlisted[m.Row] = m.String()
		}
	}
	candidates := explain.Candidates(read, c.Setups)
	w.readRunning(ctx, c.Reader, candidates, c.snapshots.shape)
	c.update(ctx, w, candidates)
}

// namespaceUnknown returns a function that reports whether the labels of a namespace may be
// incomplete; nil if all are known.
func (w *snapshot) namespaceUnknown() func(name string) bool {
	if w.namespacesUnread == "" {
		return nil
	}
	return func(string) bool { return true }
}

// checker returns a checker for a response from the snapshot, with a note if the snapshot is outdated.
func (w *snapshot) checker(ctx context.Context, r access.Rights) *access.Checker {
	a := access.NewChecker(ctx, r)
	if w.outdated != "" {
		a.Unread = append(a.Unread, w.outdated)
	}
	return a
}
