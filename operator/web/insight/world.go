package insight

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// world is a cluster at one time, and what is known of each workload. Nobody changes it.
type world struct {
	version string // of the reader; empty if it has none
	at      time.Time
	took    time.Duration // to read it
	number  uint64        // of the worlds, from 1
	before  time.Time     // until when nothing is known to have changed since the world before

	objects         map[*catalog.Row][]catalog.Object // what workloads can select
	namespaceLabels func(name string) (labels.Set, bool)
	// namespacesUnread is why namespaces may have more labels than those; empty when all of them
	// are known.
	namespacesUnread string
	lookups          map[*catalog.Row]*lookup // while it is made
	entries          []*entry                 // by kind, namespace and name
	byRef            map[catalog.Ref]*entry
	behind           map[*entry]bool // entries that are older than the world
	unselectedByAny  func() []catalog.Ref
	outdated         string // when it was read, if the cluster is known to have changed since

	pods      map[string][]*corev1.Pod // by [podKey]
	podLabels []labelNames
	sets      map[types.NamespacedName]*appsv1.StatefulSet
	daemons   map[types.NamespacedName]*appsv1.DaemonSet

	// unlisted are the kinds that could not be read, each with the reason; unread is all that
	// could not be read.
	unlisted map[*catalog.Row]string
	unread   []string
	// notRunning are the pods, StatefulSets and DaemonSets of namespaces that could not be read,
	// each with the reason.
	notRunning map[inNamespace]string
}

// worlds keeps the last world, and what makes the next one cheap.
type worlds struct {
	mu    sync.Mutex
	last  *world
	begun uint64    // worlds
	stood time.Time // when the last one was still the cluster as it was
	idle  *time.Timer
	group singleflight.Group

	keep map[catalog.Ref]*kept // only whoever makes a world looks at it
	held share.Ledger[catalog.Ref]
	// known are the objects of the last world that was made, by kind.
	known  map[*catalog.Row]map[types.NamespacedName]catalog.Object
	labels map[string]string // of namespaces, as text
}

// pauseShare bounds the share of time in which a cluster that changes all the time is read: the
// pause after a reading is so many times as long as the reading, and at most Keep.
const pauseShare = 10

// world is the cluster as it is now or, of a reader without versions, as it was a moment ago.
// Reading it again takes as long as what has changed: requests that need it meanwhile wait for
// the same reading, and for the next if they may know of a change that this one does not have.
//
// An answer does not wait for longer than [longestReading]: it gets the last world then, which says
// that it is outdated.
//
// Errors: the context has ended.
func (c *Cluster) world(ctx context.Context) (*world, error) {
	c.worlds.used(c.release)
	last, begun := c.worlds.state()
	if c.stands(last) {
		c.worlds.standing(c.Now())
		return last, nil
	}
	late := time.NewTimer(longestReading)
	defer late.Stop()
	for {
		made := c.worlds.group.DoChan("world", func() (any, error) { return c.again(context.WithoutCancel(ctx)), nil })
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			if last, _ := c.worlds.state(); last != nil {
				return last.asOf(), nil
			}
		case result := <-made:
			if result.Err != nil {
				return nil, result.Err
			}
			if w := result.Val.(*world); w != nil && (w.number > begun || c.stands(w)) {
				return w, nil
			}
		}
	}
}

// longestReading is how long an answer waits for what has changed.
const longestReading = 5 * time.Second

// asOf is a world that says when it was read.
func (w *world) asOf() *world {
	out := *w
	out.outdated = fmt.Sprintf("this is as of %s: something has changed since, and reading it takes longer than %s", w.at.UTC().Format(time.RFC3339), longestReading)
	return &out
}

// state is the last world, nil for none, and the number of those that were begun.
func (s *worlds) state() (last *world, begun uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.begun
}

// stands reports whether a world is the cluster as it is now.
func (c *Cluster) stands(w *world) bool {
	switch {
	case w == nil:
		return false
	case w.version != "":
		return w.version == c.version()
	}
	return c.Now().Sub(w.at) < c.Keep
}

// again reads the cluster unless the last world stands, after a pause since that.
func (c *Cluster) again(ctx context.Context) *world {
	last, _ := c.worlds.state()
	if c.stands(last) {
		return last
	}
	if last != nil {
		time.Sleep(min(c.Keep, pauseShare*last.took) - c.Now().Sub(last.at.Add(last.took)))
	}
	c.worlds.mu.Lock()
	c.worlds.begun++
	w := &world{number: c.worlds.begun, before: c.worlds.stood}
	c.worlds.mu.Unlock()
	c.read(ctx, w)
	w.took = c.Now().Sub(w.at)
	c.worlds.mu.Lock()
	defer c.worlds.mu.Unlock()
	c.worlds.last, c.worlds.stood = w, w.at
	return w
}

// standing notes that the last world is the cluster as it is now.
func (s *worlds) standing(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stood = now
}

// keepUnused is how long is kept what nobody asks about.
const keepUnused = 2 * time.Minute

// used has release called when nobody has asked for a time.
func (s *worlds) used(release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle == nil {
		s.idle = time.AfterFunc(keepUnused, release)
		return
	}
	s.idle.Reset(keepUnused)
}

// release drops all that is kept. Who asks again reads everything.
func (c *Cluster) release() {
	_, _, _ = c.worlds.group.Do("world", func() (any, error) { // nobody makes a world meanwhile
		for _, k := range c.worlds.keep {
			k.close()
		}
		c.worlds.keep, c.worlds.known, c.worlds.labels = map[catalog.Ref]*kept{}, nil, nil
		c.worlds.held = share.Ledger[catalog.Ref]{Room: c.worlds.held.Room}
		c.worlds.mu.Lock()
		defer c.worlds.mu.Unlock()
		c.worlds.last, c.worlds.stood = nil, time.Time{}
		return (*world)(nil), nil
	})
}

// version is that of the reader; empty if it has none.
func (c *Cluster) version() string {
	if v, is := c.Reader.(readers.Versioned); is {
		return v.Version()
	}
	return ""
}

// read makes a world.
func (c *Cluster) read(ctx context.Context, w *world) {
	w.version, w.at = c.version(), c.Now()
	w.objects, w.byRef, w.unlisted = map[*catalog.Row][]catalog.Object{}, map[catalog.Ref]*entry{}, map[*catalog.Row]string{}
	w.readNamespaces(ctx, c.Reader)
	for _, s := range c.Setups {
		for _, selects := range s.Selects {
			if _, read := w.objects[selects.Row]; !read {
				w.objects[selects.Row] = w.list(ctx, c.Reader, selects.Row, c.Scopes.For(selects.Row))
			}
		}
	}
	var candidates []explain.Candidate
	for _, s := range c.Setups {
		for _, o := range w.list(ctx, c.Reader, s.Row, s.Instances) {
			candidates = append(candidates, explain.Candidate{Setup: s, Object: o.(v1.Workload)})
		}
	}
	w.readRunning(ctx, c.Reader, candidates, c.worlds.shape)
	c.know(ctx, w, candidates)
}

func (w *world) readNamespaces(ctx context.Context, r readers.Reader) {
	var err error
	if w.namespaceLabels, err = readers.AllNamespaceLabels(ctx, r); err == nil {
		return
	}
	w.namespacesUnread = fmt.Sprintf("cannot read namespace labels, so namespace selectors match nothing: %v", err)
	w.unread = append(w.unread, w.namespacesUnread)
}

// namespaceUnknown reports whether a namespace may have more labels than are known; nil when none
// has.
func (w *world) namespaceUnknown() func(name string) bool {
	if w.namespacesUnread == "" {
		return nil
	}
	return func(string) bool { return true }
}

// list reads the objects of a kind, as far as they may be read.
func (w *world) list(ctx context.Context, r readers.Reader, row *catalog.Row, in informer.Namespaces) (out []catalog.Object) {
	for _, namespace := range in.Watches() {
		q := readers.Query{GroupVersionResource: row.GroupVersionResource(), Namespace: namespace}
		objects, err := r.List(ctx, q)
		if err != nil {
			w.unlisted[row] = unlisted(q, err)
			w.unread = append(w.unread, w.unlisted[row])
			continue
		}
		for _, o := range objects {
			if in.Has(o.GetNamespace()) {
				out = append(out, o)
			}
		}
	}
	return out
}

// unlisted says why a list is not known. Who reads is not the caller, but the operator, or whose
// credentials it has.
func unlisted(q readers.Query, err error) string {
	if apierrors.IsForbidden(err) {
		return "no permission to list " + q.String()
	}
	return fmt.Sprintf("cannot list %s: %v", q, err)
}
