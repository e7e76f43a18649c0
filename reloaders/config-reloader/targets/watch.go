package targets

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const (
	// pollEvery is the interval at which Prometheus is queried about watched targets, and the minimum time between two
	// reports. After a slow response, the pause is pollShare times the response time.
	pollEvery, pollShare = 2 * time.Second, 4
	// watchReportEvery is the maximum time between two reports about watched targets.
	watchReportEvery = 5 * time.Second
	// maxPolledJobs is the maximum number of jobs that are queried one by one.
	maxPolledJobs = 20
	// applied is the time that Prometheus needs to apply a response.
	applied = 10 * time.Second
)

// watchList are the targets about which the discovery service has requested reports. It is safe for concurrent use: the
// stream changes it, reports read it.
type watchList struct {
	mu         sync.Mutex
	generation int // incremented by each set
	seq        uint64
	units      []targetreport.WatchUnit
	jobs       map[string]*watchedJob
	inventory  bool // was requested
	stream     bool // whether the stream is open
	news       chan struct{}
}

type watchedJob struct {
	list    *job // whose addresses were read last
	targets map[string]*watchedTargets
}

// watchedTargets are the targets of a job with an address.
type watchedTargets struct {
	// since is the time at which they became part of the list, without interruption; zero if they are not in it.
	since time.Time
	// fetched is the time at which Prometheus requested them since then; zero: not yet.
	fetched time.Time
	// queried reports whether Prometheus was queried since then, and older whether they were active in the first
	// response: an earlier list may then have contained them, and Prometheus must first apply one without them.
	queried, older bool
}

func newWatching() watchList { return watchList{news: make(chan struct{}, 1)} }

func (w *watchList) wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// connect records that the stream is open.
func (w *watchList) connect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stream = true
}

// disconnect drops the requests of a stream that has ended. The next server sends its own.
func (w *watchList) disconnect() {
	w.set(targetreport.Watch{}, nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stream, w.inventory = false, false
}

func (w *watchList) connected() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stream
}

// requestInventory records that the service has requested an inventory.
func (w *watchList) requestInventory() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inventory = true
	w.wake()
}

// takeInventoryRequest reports whether the service has requested an inventory since the last call.
func (w *watchList) takeInventoryRequest() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.inventory
	w.inventory = false
	return was
}

// set replaces the watched targets. jobs is the current list.
func (w *watchList) set(next targetreport.Watch, jobs map[string]*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.jobs
	w.generation++
	w.seq, w.units, w.jobs = next.Seq, next.Units, map[string]*watchedJob{}
	for _, u := range w.units {
		for name, addresses := range u.Targets {
			if w.jobs[name] == nil {
				w.jobs[name] = &watchedJob{targets: map[string]*watchedTargets{}}
			}
			w.jobs[name].add(addresses, before[name])
		}
	}
	w.followLocked(jobs)
	w.wake()
}

// add watches more addresses. It keeps the state of those that were watched before, which may be nil.
func (j *watchedJob) add(addresses []string, before *watchedJob) {
	for _, address := range addresses {
		if j.targets[address] = before.target(address); j.targets[address] == nil {
			j.targets[address] = &watchedTargets{}
		}
	}
}

func (j *watchedJob) target(address string) *watchedTargets {
	if j == nil {
		return nil
	}
	return j.targets[address]
}

// open reports whether any target is watched.
func (w *watchList) open() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.units) > 0
}

// follow updates which watched targets are in the list. It is called after each change.
func (w *watchList) follow(jobs map[string]*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.followLocked(jobs)
}

func (w *watchList) followLocked(jobs map[string]*job) {
	for name, of := range w.jobs {
		j := jobs[name]
		if j != nil && j == of.list {
			continue
		}
		of.list = j
		listed := map[*watchedTargets]bool{}
		if j != nil {
			err := j.addresses(func(address string) {
				if t := of.targets[address]; t != nil {
					listed[t] = true
				}
			})
			if err != nil {
				clear(listed) // Prometheus rejects such a list, too
			}
		}
		for _, t := range of.targets {
			switch {
			case !listed[t]:
				*t = watchedTargets{}
			case t.since.IsZero():
				t.since = j.since
			}
		}
	}
}

// lastScrapes holds the earliest last scrape of the active watched targets, by job and address.
type lastScrapes map[string]map[string]time.Time

// wanted returns the jobs to query, and the generation of the watch list from which they come.
func (w *watchList) wanted() (lastScrapes, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := lastScrapes{}
	for name := range w.jobs {
		out[name] = map[string]time.Time{}
	}
	return out, w.generation
}

// has reports whether an address of a job is watched.
func (w *watchList) has(job, address string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobs[job].target(address) != nil
}

// answer is the report about a watch.
type answer struct {
	seq     uint64
	scraped []string
}

// scraped returns the units that are scraped, or none if the watch list has changed since the generation.
func (w *watchList) scraped(generation int, seen lastScrapes, requested map[string]fetch) answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if generation != w.generation {
		return answer{}
	}
	scraped := map[*watchedTargets]bool{}
	for name, of := range w.jobs {
		for address, t := range of.targets {
			last, active := seen[name][address]
			scraped[t] = t.scraped(requested[name], last, active)
		}
	}
	out := answer{seq: w.seq}
	for _, u := range w.units {
		all := true
		for name, addresses := range u.Targets {
			for _, address := range addresses {
				all = all && scraped[w.jobs[name].targets[address]]
			}
		}
		if all {
			out.scraped = append(out.scraped, u.ID)
		}
	}
	return out
}

// scraped reports whether the last scrape was certainly of the targets in the current list, and not in an earlier one.
func (t *watchedTargets) scraped(f fetch, last time.Time, active bool) bool {
	if t.since.IsZero() {
		return false
	}
	if !t.queried {
		t.queried, t.older = true, active
	}
	if t.fetched.IsZero() {
		switch {
		case !f.since.Before(t.since):
			t.fetched = f.since
		case !f.last.Before(t.since):
			t.fetched = f.last
		default:
			return false
		}
	}
	from := t.fetched
	if t.older {
		from = from.Add(applied)
	}
	return active && last.After(from)
}

// poll queries Prometheus for the watched targets, if there are any. It returns none on an error.
//
// Errors: Prometheus does not respond.
func (r *reporter) poll(ctx context.Context, now time.Time) (answer, error) {
	seen, generation := r.watching.wanted()
	if len(seen) == 0 || r.prometheus.Targets == nil {
		return answer{seq: r.watching.number()}, nil
	}
	each := func(s activeTarget) error {
		name, address := s.job(), s.Discovered.Address
		if of := seen[name]; of != nil && r.watching.has(name, address) {
			if last, twice := of[address]; !twice || s.LastScrape.Before(last) {
				of[address] = s.LastScrape
			}
		}
		return nil
	}
	if err := r.pollJobs(ctx, seen, each); err != nil {
		return answer{}, err
	}
	return r.watching.scraped(generation, seen, r.fetches.current(now)), nil
}

// pollJobs requests the active targets of at least the given jobs.
func (r *reporter) pollJobs(ctx context.Context, seen lastScrapes, each func(activeTarget) error) error {
	if r.foreign || len(seen) > maxPolledJobs {
		return r.prometheus.active(ctx, each)
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		foreign := false
		err := r.prometheus.activeOf(ctx, name, func(s activeTarget) error {
			foreign = foreign || s.job() != name
			return each(s)
		})
		if err != nil {
			return err
		}
		if foreign { // the response has all jobs
			r.foreign = true
			return nil
		}
	}
	return nil
}

func (w *watchList) number() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seq
}
