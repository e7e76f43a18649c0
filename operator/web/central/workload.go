package central

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/autoscale"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/livetargets"
)

// workload is a workload with lists.
type workload struct {
	catalog.Ref
	jobs   map[string]*job
	shards int // of the jobs
	serves int // number of shards with lists; 0 before the first ones
	// latest are the targets for the newest set of each job, from the observer.
	latest map[*targets.Job]*observedTargets
	// open are the observers that were not closed.
	open   map[*observedTargets]bool
	memory *feed.Memory
	// problem is the reason why the lists are not current; empty if they are.
	problem string
	// reviewing is true while the only problem is that the first review of its permissions has not completed.
	reviewing bool
	// stale is the reason why the jobs are not those of the current configuration; empty if they are.
	stale  string
	notes  []string
	object v1.Workload
	// lost are the jobs with targets in no list.
	lost map[string]bool
	// sent has the times of the last Events by reason.
	sent map[string]time.Time
	// unread are the objects whose jobs cannot be evaluated. Lists keep their targets.
	unread []preview.Object
	// division is how targets are divided among shards; hashing is true if servers also divide them by hash.
	division wellknown.Division
	hashing  bool
	// by has the shards of targets; nil if they are placed by hash.
	by *balance.Balancer
	// scaler decides on the number of shards; nil without autoscaling, and until decisions were read.
	scaler *autoscale.Scaler
	// unknownSince is the time since which its load is unknown; zero if it is known.
	unknownSince time.Time
	// shardList are the shards of shardListOf, if it has as many. They change with the object.
	shardList   []allocation.Shard
	shardListOf v1.Workload
	// requested has the pods that have not yet reported their targets, with the time of the first request.
	requested map[types.UID]time.Time
	// complete is true if lists could be made at the last update.
	complete bool
}

// newWorkload returns a workload without jobs.
func (r *Runner) newWorkload(c choice) *workload {
	w := &workload{Ref: c.Ref(), object: c.Object, jobs: map[string]*job{}, latest: map[*targets.Job]*observedTargets{}, open: map[*observedTargets]bool{}, memory: r.memory, sent: map[string]time.Time{}}
	if w.divide(c); w.division.Weighted {
		w.by = balance.New(r.Units, w.settings())
	}
	return w
}

// take replaces the jobs of the workload. It keeps the current ones if the new jobs cannot be read or are
// incomplete.
func (w *workload) take(jobs livetargets.Jobs, err error) {
	w.notes, w.stale, w.reviewing = jobs.Notes, jobs.Stale, err == nil && jobs.Error == "" && !jobs.Reviewed && len(jobs.Notes) == 0
	switch w.problem = ""; {
	case err != nil:
		w.problem = err.Error()
	case jobs.Error != "":
		w.problem = jobs.Error
	case !jobs.Reviewed:
		w.problem = "the permissions of its ServiceAccount are not known yet"
	}
	if w.problem == "" && slices.ContainsFunc(jobs.Jobs, func(j livetargets.FollowedJob) bool { return w.latest[j.Job] == nil }) {
		w.problem = "some of its jobs are not observed" // all jobs are, unless another caller follows the workload
	}
	if w.problem != "" {
		return
	}
	next := map[string]*job{}
	latest := map[*targets.Job]*observedTargets{}
	for _, j := range jobs.Jobs {
		latest[j.Job] = w.latest[j.Job]
		if j.Set.Evicted() {
			w.latest[j.Job].close() // the last line stays, because the targets are unknown
		}
		if !isCentral(j) {
			continue
		}
		before := w.jobs[j.Name]
		if before != nil && before.Set == j.Set {
			before.FollowedJob = j
			next[j.Name] = before
			continue
		}
		next[j.Name] = &job{FollowedJob: j, observedTargets: w.latest[j.Job], begun: time.Now(), memory: math.MaxInt, reduced: make([]float64, w.latest[j.Job].targets.Shards())}
	}
	w.jobs, w.shards, w.latest, w.unread = next, jobs.Shards, latest, jobs.Unread
	w.closeOthers()
}

// closeOthers closes the observers of sets that are no longer used.
func (w *workload) closeOthers() {
	used := map[*observedTargets]bool{}
	for _, o := range w.latest {
		used[o] = true
	}
	for o := range w.open {
		if !used[o] {
			o.close()
			delete(w.open, o)
		}
	}
}

// observe returns the observer of a set that begins.
func (w *workload) observe(namespace string, j *targets.Job) targetset.Observer {
	o := &observedTargets{targets: feed.NewBalanced(j, w.memory, namespace, w.by)}
	w.latest[j] = o
	w.open[o] = true
	return o.put
}

// know records which jobs are known. all is true if no job is missing for lists of all shards.
func (w *workload) know(now time.Time) (known map[string]bool, all bool) {
	known, all = map[string]bool{}, true
	for name, j := range w.jobs {
		if known[name] = j.known(); known[name] {
			j.settle(now)
			known[name] = !j.waits(now)
		}
		j.isKnown = known[name]
		all = all && (known[name] || !j.waits(now) && j.Set.Known())
	}
	return known, all
}

// lists updates the lists of the workload and returns the jobs that are held from now on.
func (w *workload) lists(now time.Time, to *feed.Feed, known map[string]bool, all bool) (held map[feed.Shard][]feed.Suspicion) {
	w.complete = all && w.problem == ""
	rebuild := w.serves != w.shards
	if rebuild && !w.complete || w.by != nil && !w.by.Ready() {
		return nil // the lists of all shards change together
	}
	lines := w.lines()
	if w.by != nil {
		for _, j := range w.jobs {
			j.relocate(lines)
		}
	}
	changes := map[int][]feed.Change{}
	retired := to.Jobs(feed.Shard{Workload: w.Ref, Number: feed.Retired})
	for _, name := range w.names() {
		j := w.jobs[name]
		var of map[int]feed.Change
		switch {
		case known[name]:
			of = j.changes(now, rebuild)
		case rebuild && w.serves > 0:
			of = j.placed(to.Known(w.Ref, name), w.by, lines)
		default:
			continue // its last line stays
		}
		for shard, c := range of {
			changes[shard] = append(changes[shard], c)
		}
		if _, has := slices.BinarySearch(retired, name); !has {
			changes[feed.Retired] = append(changes[feed.Retired], feed.Change{Job: name, Namespace: j.Object.Namespace, Line: feed.EmptyLine(name)})
		}
	}
	held = map[feed.Shard][]feed.Suspicion{}
	for _, number := range w.numbers() {
		of := feed.Shard{Workload: w.Ref, Number: number}
		if w.problem == "" {
			changes[number] = append(changes[number], w.gone(to.Jobs(of))...)
		}
		if rebuild || len(changes[number]) > 0 {
			changes[number] = w.fit(now, of, changes[number], known, to)
			if s := to.Apply(now, of, changes[number]); len(s) > 0 {
				held[of] = s
			}
		}
	}
	for _, number := range to.Shards(w.Ref) {
		if number >= lines {
			to.Drop(feed.Shard{Workload: w.Ref, Number: number})
		}
	}
	w.serves = w.shards
	if w.by != nil {
		for shard := range lines {
			w.by.Applied(shard, to.Seq(feed.Shard{Workload: w.Ref, Number: shard}))
		}
	}
	return held
}

// rounds is the maximum number of attempts to make a list fit by reducing its jobs.
const rounds = 4

// fit shrinks the jobs that exceed their share of a list. Missing targets are attributed to the namespaces
// whose targets use most of these jobs.
func (w *workload) fit(now time.Time, of feed.Shard, changes []feed.Change, known map[string]bool, to *feed.Feed) []feed.Change {
	for range rounds {
		excess := to.Fit(of, changes)
		for name, part := range excess {
			if !known[name] || of.Number == feed.Retired {
				continue
			}
			c := w.jobs[name].reduce(now, of.Number, part)
			if at := slices.IndexFunc(changes, func(c feed.Change) bool { return c.Job == name }); at >= 0 {
				c.Unexplained = changes[at].Unexplained
				changes[at] = c
			} else {
				changes = append(changes, c)
			}
		}
		if len(excess) == 0 {
			return changes
		}
	}
	return changes
}

// enlarge lets lines that were reduced grow in lists with room.
func (w *workload) enlarge(now time.Time, in *feed.Feed) {
	for shard := range w.lines() {
		reduced := false
		for _, j := range w.jobs {
			reduced = reduced || shard < len(j.reduced) && j.reduced[shard] > 0
		}
		if !reduced || in.Full(feed.Shard{Workload: w.Ref, Number: shard}) {
			continue
		}
		for _, j := range w.jobs {
			if shard < len(j.reduced) {
				j.enlarge(now, shard)
			}
		}
	}
}

// gone returns changes that remove from a list the jobs that the workload no longer has.
func (w *workload) gone(listed []string) (out []feed.Change) {
	for _, name := range listed {
		if w.jobs[name] == nil && !slices.ContainsFunc(w.unread, func(o preview.Object) bool { return belongs(name, o.Ref) }) {
			out = append(out, feed.Change{Job: name})
		}
	}
	return out
}

// belongs reports whether a job is one of an object: "podMonitor/NAMESPACE/NAME/0".
func belongs(job string, of catalog.Ref) bool {
	kind, rest, _ := strings.Cut(job, "/")
	return strings.EqualFold(kind, of.Kind) && (rest == of.Namespace+"/"+of.Name || strings.HasPrefix(rest, of.Namespace+"/"+of.Name+"/"))
}

// names returns the names of the jobs, sorted.
func (w *workload) names() []string { return slices.Sorted(maps.Keys(w.jobs)) }

// drop removes the lists of the workload.
func (w *workload) drop(from *feed.Feed) {
	for _, number := range from.Shards(w.Ref) {
		from.Drop(feed.Shard{Workload: w.Ref, Number: number})
	}
	w.serves = 0
}

// close closes all observers.
func (w *workload) close() {
	w.latest = nil
	w.closeOthers()
}

// forbidden returns the permissions for discovery that the ServiceAccount lacks, without duplicates.
func (w *workload) forbidden() (out []string) {
	for _, j := range w.jobs {
		for _, gap := range j.gaps {
			if gap.State == targets.Forbidden {
				out = append(out, gap.Message)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
