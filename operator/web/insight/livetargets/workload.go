package livetargets

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Compiling takes at most a twentieth of the time.
const (
	leastPause = time.Second
	pauseShare = 20
	// unversioned is the pause if the reader does not report versions.
	unversioned = 15 * time.Second
)

// workload is the state of a followed workload.
type workload struct {
	source *Source
	catalog.Ref
	lastRequest atomic.Int64 // time of the last request, in Unix nanoseconds
	bytes       atomic.Int64 // approximate memory use of its jobs
	claim       atomic.Int64 // the same, even while there is no room for them

	mu       sync.Mutex // guards the following fields
	compiler preview.Compiler
	compiled preview.Workload
	notes    []string
	version  string    // the compiled version; empty if not compiled
	due      time.Time // time from which it may be recompiled
	exists   func(namespace string) bool
	claimed  time.Time // time since when there is no room for its claim
	stale    bool      // there is no room to read it again, so it is followed in its last state
	jobs     []*job    // in the order of the configuration
	sets     map[*job]*set
	account  account
	gone     bool // it did not exist and was removed from the source

	shown   atomic.Pointer[shown] // readable without the mutex
	counted atomic.Pointer[insight.TargetCounts]

	scraping singleflight.Group // queries its servers, and sets scrapes
	scrapes  atomic.Pointer[insight.Scrapes]

	comparing atomic.Bool // the URLs of its jobs are being compared
	compared  atomic.Pointer[compared]
}

// shown is an immutable snapshot of the jobs of a workload and their sets.
type shown struct {
	shards int
	known  bool // the list of jobs is complete
	nodes  bool // a job adds labels of nodes
	labels bool // a job adds labels of namespaces
	jobs   []shownJob
}

type shownJob struct {
	*job
	set *targetset.Followed // nil: not followed
}

// show publishes a snapshot of the jobs and sets.
func (w *workload) show() {
	out := &shown{shards: w.compiled.Shards, known: w.version != "" && w.compiled.Error == ""}
	for _, j := range w.jobs {
		one := shownJob{job: j}
		for sd := range discovery.Distinct(j.Job) {
			for _, kind := range discovery.Kinds(sd) {
				out.nodes = out.nodes || kind.Resource == readers.Nodes
				out.labels = out.labels || kind.Resource == readers.Namespaces
			}
		}
		if s := w.sets[j]; s != nil {
			one.set = s.Followed
		}
		out.jobs = append(out.jobs, one)
	}
	w.shown.Store(out)
}

// job is a job of a workload. Recompiling keeps the same pointer while the compiled job is
// unchanged.
type job struct {
	*targets.Job
	object preview.Object
	at     int // its index in the configuration
}

// set holds the targets of a job.
type set struct {
	*targetset.Followed
	lastRequest time.Time
	version     int       // of the account's denials
	denied      string    // key of the denials that apply to the job
	crowded     time.Time // when it was found to have no room
}

// open compiles the workload if it is stale, starts following the selected jobs and returns them.
//
// Errors: the workload does not exist or cannot be read.
func (w *workload) open(ctx context.Context, selects func(*job) bool) (openWorkload, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.show()
	if w.gone { // removed while waiting for the lock: retry
		return w.source.of(w.Ref).open(ctx, selects)
	}
	if err := w.compile(ctx); err != nil {
		if apierrors.IsNotFound(err) {
			w.leave()
		}
		return openWorkload{}, err
	}
	w.reviewAccount(ctx)
	if w.version == "" { // forgotten while the mutex was released
		return openWorkload{}, apierrors.NewNotFound(catalog.Of(w.Kind).GroupResource(), w.Name)
	}
	out := openWorkload{workload: w, notes: w.allNotes()}
	reviewing := w.account.reviewing != nil && !w.account.current()
	now := time.Now()
	for _, j := range w.jobs {
		if !selects(j) {
			continue
		}
		s := w.follow(j)
		s.lastRequest = now
		out.jobs = append(out.jobs, openJob{j, s.Followed, w.Ref, reviewing})
	}
	return out, nil
}

// leave removes the workload from the source, so that requests for arbitrary names leave no entries
// behind.
func (w *workload) leave() {
	if w.account.reviewing != nil {
		w.account.stop()
	}
	w.gone = true
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	if w.source.workloads[w.Ref] == w {
		delete(w.source.workloads, w.Ref)
	}
}

// openWorkload is a workload with its selected jobs, which are followed.
type openWorkload struct {
	*workload
	jobs  []openJob
	notes []string
}

type openJob struct {
	*job
	set *targetset.Followed
	of  catalog.Ref
	// reviewing is true while the permissions of the ServiceAccount are being reviewed.
	reviewing bool
}

// compile recompiles the jobs if anything may have changed. Sets of removed jobs are closed.
func (w *workload) compile(ctx context.Context) error {
	now, version := time.Now(), ""
	if v, is := w.source.Reader.(readers.Versioned); is {
		version = v.Version()
	}
	if w.version != "" && (version == w.version && w.claimed.IsZero() || now.Before(w.due)) {
		return nil
	}
	c, err := w.source.candidate(ctx, w.Ref)
	if apierrors.IsNotFound(err) {
		w.forget()
	}
	if err != nil {
		return err
	}
	reading := w.source.read(ctx, w.Namespace)
	compiled := w.readJobs(c, reading, now)
	if err := ctx.Err(); err != nil {
		return err // the reading may be incomplete
	}
	w.compiled, w.notes = compiled, slices.Clone(reading.notes)
	w.exists = func(namespace string) bool {
		_, ok := reading.cluster.NamespaceLabels(namespace)
		return ok
	}
	var jobs []*job
	for _, source := range w.compiled.Sources() {
		if field := source.Object.Field; field != "" { // spec.additionalScrapeConfigs
			w.notes = append(w.notes, "the jobs of "+field+" are not shown: they come from a Secret; operator targets shows them to anyone who may read it")
			continue
		}
		for i := range source.Compiled {
			jobs = append(jobs, &job{&source.Compiled[i], source.Object, len(jobs)})
		}
	}
	w.replace(jobs)
	pause := max(leastPause, pauseShare*time.Since(now))
	if version == "" {
		version, pause = "-", max(pause, unversioned)
	}
	if w.source.Fair && !w.claimed.IsZero() {
		pause = max(pause, time.Minute)
	}
	w.version, w.due = version, now.Add(pause)
	return nil
}

// replace replaces the jobs. Unchanged jobs keep their sets, the sets of others are closed.
func (w *workload) replace(jobs []*job) {
	sets := map[*job]*set{}
	before := map[*targets.Job]*job{}
	for j := range w.sets {
		before[j.Job] = j
	}
	for _, j := range jobs {
		if old := before[j.Job]; old != nil {
			sets[j] = w.sets[old]
			delete(w.sets, old)
		}
	}
	for _, gone := range w.sets {
		gone.Close()
	}
	w.jobs, w.sets = jobs, sets
}

// allNotes returns the notes about the workload.
func (w *workload) allNotes() (out []string) {
	if w.compiled.Error != "" {
		out = append(out, w.Ref.String()+": "+w.compiled.Error)
	}
	for _, note := range slices.Concat(w.compiled.Notes, w.notes, w.account.notes) {
		out = append(out, w.Ref.String()+": "+note)
	}
	return out
}

// rejected returns the objects without jobs, with the reason.
func (w *workload) rejected() (out []preview.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, source := range w.compiled.Sources() {
		if source.State != preview.Accepted {
			out = append(out, source.Object)
		}
	}
	return out
}

// end closes the sets without a request in the time idle. With 0 it closes all sets and drops the compiled jobs. It reports
// whether it closed any.
func (w *workload) end(now time.Time, idle time.Duration) (ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for j, s := range w.sets {
		if now.Sub(s.lastRequest) >= idle {
			s.Close()
			delete(w.sets, j)
			ended = true
		}
	}
	if idle == 0 {
		if w.account.reviewing != nil {
			w.account.stop()
		}
		w.forget()
	}
	w.show()
	return ended
}

// forget drops all compiled state.
func (w *workload) forget() {
	w.replace(nil)
	w.compiler.Close()
	w.bytes.Store(0)
	w.claim.Store(0)
	w.compiled, w.notes, w.version = preview.Workload{}, nil, ""
	w.show()
}

// counts returns the counts of all jobs, or nil unless all are followed. It returns the same
// pointer until a count changes. It does not block.
func (w *workload) counts() *insight.TargetCounts {
	of := w.shown.Load()
	if of == nil || !of.known {
		return nil
	}
	out := &insight.TargetCounts{Objects: map[catalog.Ref]preview.Counts{}, Synced: true, Nodes: of.nodes, NamespaceLabels: of.labels}
	if of.shards > 1 {
		out.PerShard = make([]int, of.shards)
	}
	for _, j := range of.jobs {
		if j.set == nil {
			return nil
		}
		out.Synced = j.set.Complete() && out.Synced // before counting
		of := countsOf(j.set, targetset.AllShards)
		out.Add(&of.Counts)
		each := out.Objects[j.object.Ref]
		each.Add(&of.Counts)
		out.Objects[j.object.Ref] = each
		for shard := range min(len(out.PerShard), len(of.all.Shards)) {
			out.PerShard[shard] += of.all.Shards[shard]
		}
	}
	out.Overlaps = w.overlaps(of.jobs, out.Kept)
	if last := w.counted.Load(); last != nil && reflect.DeepEqual(last, out) {
		return last
	}
	w.counted.Store(out)
	return out
}

func (w *workload) size() (sets, scraped int) {
	of := w.shown.Load()
	if of == nil {
		return 0, 0
	}
	for _, j := range of.jobs {
		if j.set != nil {
			sets, scraped = sets+1, scraped+j.set.Counts().States[targets.Kept]
		}
	}
	return sets, scraped
}

// jobCounts holds the numbers of targets of a job.
type jobCounts struct {
	preview.Counts
	all  *targetset.Counts
	gaps []targets.Gap
}

// countsOf counts the targets of a job and its gaps, each as one.
func countsOf(f *targetset.Followed, shard int) jobCounts {
	out := jobCounts{all: f.Counts(), gaps: f.AllGaps()}
	for state, n := range out.all.States {
		switch {
		case state == targets.Dropped:
		case state == targets.Kept && shard != targetset.AllShards:
			on := out.all.Total(targetset.Filter{State: targets.Kept, Shard: shard})
			out.AddState(targets.Kept, "", on)
			out.AddState(targets.OtherShard, "", n-on)
		default:
			out.AddState(state, "", n)
		}
	}
	for origin, n := range out.all.Dropped {
		out.AddState(targets.Dropped, origin, n)
	}
	for _, gap := range out.gaps {
		out.AddState(gap.State, "", 1)
	}
	return out
}

// compareRefs orders workloads.
func compareRefs(a, b catalog.Ref) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
}
