package central

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/livetargets"
)

const (
	// every is the interval at which workloads are checked for changes.
	every = time.Second
	// settle is how long changes of targets are collected before the lists change.
	settle = 50 * time.Millisecond
)

// Runner keeps the lists current.
type Runner struct {
	// Events (optional) sends Events about workloads. It is set before Run.
	Events events.EventRecorder
	// Replicas are the pods of workloads, Streams those that follow a list. They are set before Run.
	Replicas Replicas
	Streams  *feed.Server
	// Decisions (optional) stores the numbers of shards that workloads should have. Without it, there is no
	// autoscaling.
	Decisions Decisions
	// Speed is the factor by which autoscaling is faster than usual, at most [autoscale.MaxSpeed]; 0 means 1. It is set
	// before Run.
	Speed int
	// Units (optional) limits the memory for the placement by series.
	Units balance.Budget

	source *livetargets.Source
	feed   *feed.Feed
	log    *slog.Logger
	wake   chan struct{}
	memory *feed.Memory

	mu          sync.Mutex // guards the following fields, except while a workload is compiled
	workloads   map[catalog.Ref]*workload
	read        bool // the workloads were read
	ready       bool // all workloads had their lists once
	missing     string
	tooLarge    string // objects whose targets are left out
	largeLogged time.Time
	owners      map[types.NamespacedName]feed.Owner
	ended       map[string]int // events of balancers that are closed
	decided     decided

	balancing sync.Mutex // guards balancers, because pods report while lists are made
	balancers map[catalog.Ref]*balance.Balancer
}

// New returns a Runner. It takes over the observer of the source. most is the number of bytes that the
// targets in all lists may have before they are compressed.
func New(source *livetargets.Source, to *feed.Feed, most int64, log *slog.Logger) *Runner {
	r := &Runner{ended: map[string]int{}, source: source, feed: to, memory: &feed.Memory{Most: most}, log: log, wake: make(chan struct{}, 1), workloads: map[catalog.Ref]*workload{}}
	source.Observe = r.observe
	return r
}

// observe implements the observer of the source, which calls it while [Runner.follow] requests jobs.
func (r *Runner) observe(of catalog.Ref, namespace string, j *targets.Job) (targetset.Observer, func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.workloads[of]
	if w == nil {
		return nil, func() {}
	}
	return w.observe(namespace, j), r.changed
}

// changed schedules an update of the lists.
func (r *Runner) changed() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run runs until the context ends.
func (r *Runner) Run(ctx context.Context) {
	defer r.source.Close()
	if r.Decisions != nil {
		var scaling sync.WaitGroup
		defer scaling.Wait()
		scaling.Go(func() { r.scale(ctx) })
	}
	check := time.NewTicker(every)
	defer check.Stop()
	for {
		r.check(ctx, time.Now())
		r.largeObjects(time.Now())
		r.update(time.Now())
		for r.awaitChange(ctx, check.C) {
			r.update(time.Now())
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// awaitChange waits until the lists must be updated, and returns false if the next check is due or the context has ended.
func (r *Runner) awaitChange(ctx context.Context, check <-chan time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-check:
		return false
	case <-r.wake:
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(settle):
		return true
	}
}

// check reads the workloads and follows the jobs of those with lists.
func (r *Runner) check(ctx context.Context, now time.Time) {
	all, notes, err := r.source.Workloads(ctx)
	if ctx.Err() != nil {
		return
	}
	r.problem(err, notes)
	if err != nil {
		return // the lists stay
	}
	r.mu.Lock()
	var choices []choice
	for _, c := range all {
		choices = append(choices, choose(c, r.workloads[c.Ref()] != nil))
	}
	want := central(choices)
	var gone []catalog.Ref
	for ref, c := range want {
		if r.workloads[ref] == nil {
			r.log.Info("following the targets of a workload", "workload", ref.String())
			r.workloads[ref] = r.newWorkload(c)
		}
		w := r.workloads[ref]
		w.object = c.Object
		if w.divide(c); w.restarts() {
			r.log.Info("the targets of a workload are divided in another way", "workload", ref.String(), "weighted", w.division.Weighted)
			r.end(w)
			r.workloads[ref] = r.newWorkload(c)
			gone = append(gone, ref)
		}
	}
	for ref, w := range r.workloads {
		if _, wanted := want[ref]; !wanted && len(notes) == 0 { // otherwise it may be among those that could not be read
			r.log.Info("a workload has no central discovery any more", "workload", ref.String())
			r.end(w)
			delete(r.workloads, ref)
			gone = append(gone, ref)
		}
	}
	following := slices.SortedFunc(maps.Values(r.workloads), func(a, b *workload) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
	})
	if len(notes) == 0 || !r.read {
		r.owners = ownersOf(choices, r.owners)
		r.feed.SetOwners(r.owners)
	}
	r.remember()
	r.mu.Unlock()
	for _, ref := range gone {
		r.source.Stop(ref) // which must not be called with the mutex: observe is called with those of the source
	}
	for _, w := range following {
		r.follow(ctx, w)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = r.read || len(notes) == 0
}

// problem logs changes of the reason why the workloads cannot be read.
func (r *Runner) problem(err error, notes []string) {
	text := strings.Join(notes, "; ")
	if err != nil {
		text = err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if text != "" && text != r.missing {
		r.log.Warn("cannot read all workloads, the others keep their lists", "err", text)
	}
	r.missing = text
}

// follow reads the jobs of a workload.
func (r *Runner) follow(ctx context.Context, w *workload) {
	jobs, err := r.source.Jobs(ctx, w.Ref)
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := cmp.Or(w.problem, w.stale)
	w.take(jobs, err)
	if why := cmp.Or(w.problem, w.stale); why != "" && why != before {
		r.log.Warn("the targets of a workload are not current", "workload", w.Ref.String(), "reason", why)
	}
}

// update updates the lists.
func (r *Runner) update(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.share()
	var following map[catalog.Ref][]feed.Sender // only if a workload has a balancer
	for _, w := range r.workloads {
		before := w.serves
		known, all := w.know(now)
		if w.by != nil {
			if following == nil {
				following = r.Streams.Following()
			}
			r.balance(now, w, following[w.Ref], known, all)
		}
		w.enlarge(now, r.feed)
		r.shrunk(now, w, w.lists(now, r.feed, known, all))
		if w.by != nil {
			r.request(w, following[w.Ref])
		}
		r.leaveOut(now, w)
		if before == 0 && w.serves > 0 {
			r.log.Info("the targets of a workload are complete", "workload", w.Ref.String(), "shards", w.serves, "jobs", len(w.jobs))
		}
	}
	for of, jobs := range r.feed.Release(now) {
		r.log.Warn("jobs did not get their targets back: pods lose them now", "workload", of.Workload.String(), "shard", of.Number, "jobs", jobs)
	}
}

// Ready reports whether the workloads were read and have their lists, or the reason if not. It stays true for
// later workloads: those with lists need this replica, and pods of a new workload get 503 until it has lists.
func (r *Runner) Ready() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready {
		return true
	}
	for _, w := range r.workloads {
		if w.serves == 0 && (w.problem == "" || w.reviewing) && !(w.by != nil && w.complete) { // replicas that stand by have no lists by series
			return false
		}
	}
	r.ready = r.read
	return r.ready
}
