package followed

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/insight"
	"github.com/firekeeper-dev/firekeeper/operator/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targetset"
)

// Compiling takes at most a twentieth of the time.
const (
	leastPause = time.Second
	pauseShare = 20
	// unversioned is the pause where nothing says that nothing has changed.
	unversioned = 15 * time.Second
)

// workload is one whose targets somebody asks about.
type workload struct {
	source *Source
	explain.Ref
	asked atomic.Int64 // when somebody last did, in nanoseconds

	mu       sync.Mutex // guards what follows
	compiler preview.Compiler
	compiled preview.Workload
	notes    []string
	version  string    // that was compiled; empty for none
	due      time.Time // when it may be compiled again
	jobs     []*job    // in the order of the configuration
	sets     map[*job]*set
	account  account
	gone     bool // it did not exist, and the source has forgotten it
}

// job is one of a workload. It stays the same value while the compiled job does.
type job struct {
	*targets.Job
	object preview.Object
	at     int // its place in the configuration
}

// set are the targets of a job.
type set struct {
	*targetset.Followed
	asked   time.Time
	version int    // of the account's denials
	denied  string // of these, what matters to the job
}

// open compiles the workload unless it stands, and returns its jobs that a function selects,
// which are followed from now on.
//
// Errors: the workload does not exist or cannot be read.
func (w *workload) open(ctx context.Context, selects func(*job) bool) (opened, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone { // who has waited for the lock asks about what may exist now
		return w.source.of(w.Ref).open(ctx, selects)
	}
	if err := w.compile(ctx); err != nil {
		if apierrors.IsNotFound(err) {
			w.leave()
		}
		return opened{}, err
	}
	w.askPermissions(ctx)
	out := opened{workload: w, notes: w.allNotes()}
	asking := !w.account.known && w.account.asking != nil
	now := time.Now()
	for _, j := range w.jobs {
		if !selects(j) {
			continue
		}
		s := w.follow(j)
		s.asked = now
		out.jobs = append(out.jobs, openJob{j, s.Followed, w.Ref, asking})
	}
	return out, nil
}

// leave makes the source forget what does not exist: anybody can ask about any name.
func (w *workload) leave() {
	if w.account.asking != nil {
		w.account.stop()
	}
	w.gone = true
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	if w.source.workloads[w.Ref] == w {
		delete(w.source.workloads, w.Ref)
	}
}

// opened are jobs of a workload that are followed.
type opened struct {
	*workload
	jobs  []openJob
	notes []string
}

type openJob struct {
	*job
	set *targetset.Followed
	of  explain.Ref
	// asking says that it is not known yet what the ServiceAccount may discover.
	asking bool
}

// compile compiles the jobs if anything may have changed. Sets of jobs that no longer exist end.
func (w *workload) compile(ctx context.Context) error {
	now, version := time.Now(), ""
	if v, is := w.source.Reader.(insight.Versioned); is {
		version = v.Version()
	}
	if w.version != "" && (version == w.version || now.Before(w.due)) {
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
	if why := c.Unmanaged(); why != "" {
		w.compiled = preview.Workload{Ref: w.Ref, Error: "it is not managed by this operator: " + why}
	} else {
		w.compiled = w.compiler.Read(c, reading.cluster)
	}
	if err := ctx.Err(); err != nil {
		return err // what was read may be half of it
	}
	w.notes = slices.Clone(reading.notes)
	var jobs []*job
	for _, source := range w.compiled.Sources() {
		if field := source.Object.Field; field != "" { // spec.additionalScrapeConfigs
			w.notes = append(w.notes, "the jobs of "+field+" are not shown: they come from a Secret; operator targets shows them to whoever may read it")
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
	w.version, w.due = version, now.Add(pause)
	return nil
}

// replace replaces the jobs. Those that are the same as before keep their sets.
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

// allNotes are what is not known of the workload.
func (w *workload) allNotes() (out []string) {
	if w.compiled.Error != "" {
		out = append(out, w.Ref.String()+": "+w.compiled.Error)
	}
	for _, note := range slices.Concat(w.compiled.Notes, w.notes, w.account.notes) {
		out = append(out, w.Ref.String()+": "+note)
	}
	return out
}

// rejected are the objects without jobs, with the reason.
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

// end closes sets that nobody has asked about for a time, and reports whether there were any.
func (w *workload) end(now time.Time, unasked time.Duration) (ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for j, s := range w.sets {
		if now.Sub(s.asked) >= unasked {
			s.Close()
			delete(w.sets, j)
			ended = true
		}
	}
	if unasked == 0 {
		if w.account.asking != nil {
			w.account.stop()
		}
		w.forget()
	}
	return ended
}

// forget drops everything that is known.
func (w *workload) forget() {
	w.replace(nil)
	w.compiler.Close()
	w.compiled, w.notes, w.version = preview.Workload{}, nil, ""
}

// counts are those of all jobs; nil unless all are followed.
func (w *workload) counts() *insight.TargetCounts {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.version == "" || w.compiled.Error != "" || len(w.sets) < len(w.jobs) {
		return nil
	}
	out := &insight.TargetCounts{Objects: map[explain.Ref]preview.Counts{}, Synced: true}
	if w.compiled.Shards > 1 {
		out.PerShard = make([]int, w.compiled.Shards)
	}
	for _, j := range w.jobs {
		of := countsOf(w.sets[j].Followed, targetset.AllShards)
		out.Add(of.Counts)
		each := out.Objects[j.object.Ref]
		each.Add(of.Counts)
		out.Objects[j.object.Ref] = each
		for shard := range min(len(out.PerShard), len(of.all.Shards)) {
			out.PerShard[shard] += of.all.Shards[shard]
		}
		out.Synced = out.Synced && w.sets[j].Complete()
	}
	return out
}

func (w *workload) size() (sets, scraped int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sets {
		scraped += s.Counts().States[targets.Kept]
	}
	return len(w.sets), scraped
}

// counted are the numbers of targets of a job.
type counted struct {
	preview.Counts
	all  targetset.Counts
	gaps []targets.Gap
}

// countsOf counts what is known of a job, and each discovery that is not.
func countsOf(f *targetset.Followed, shard int) counted {
	out := counted{all: f.Counts(), gaps: f.AllGaps()}
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
func compareRefs(a, b explain.Ref) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
}
