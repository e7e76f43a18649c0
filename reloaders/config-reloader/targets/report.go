package targets

import (
	"context"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const (
	// compareAgain times the interval of reports is the time after which an unchanged list is compared again.
	compareAgain = 5
	// confirmAfter is the time for which comparisons must find the same difference before it counts as a disagreement.
	confirmAfter = 45 * time.Second
)

// reporter creates reports about the progress of Prometheus with the list. Only its field fetches may be used
// concurrently.
type reporter struct {
	list       *list
	every      time.Duration
	prometheus Prometheus
	log        *slog.Logger
	fetches    fetches

	watching watchList
	// boot and seq number reports and inventories.
	boot, seq uint64
	// newcomers are jobs of the list that Prometheus has not requested, with the time since when.
	newcomers map[string]time.Time
	// seed is the seed of the hashes in inventories.
	seed        maphash.Seed
	agentSeries agentSeries
	fetched     Version // of the last report
	blind       bool    // Prometheus rejected the last request

	last   *comparison // nil: none yet, or the last one failed
	at     time.Time   // of the last comparison
	logged bool        // the error of the last comparison was logged
	// foreign is true if Prometheus ignores the parameter for one job, until this program restarts.
	foreign bool
}

// report returns the current report, compared only if it is a full one. ok is false if Prometheus does not respond.
func (r *reporter) report(ctx context.Context, now time.Time, full bool) (out targetreport.Report, ok bool) {
	version, jobs := r.list.snapshot()
	requested := r.fetches.current(now)
	maps.DeleteFunc(requested, func(name string, _ fetch) bool { return jobs[name] == nil })
	if ok = true; full {
		ok = r.update(ctx, now, jobs, requested)
	}
	about, err := r.poll(ctx, now)
	if ok = ok && err == nil; r.watching.open() {
		r.setBlind(err)
	}
	r.seq++
	out = targetreport.Report{Version: version.String(), Requested: len(requested), Boot: r.boot, Seq: r.seq,
		Fetched: r.progress(now, version, jobs, requested).String(), Watch: about.seq, Scraped: about.scraped,
		Blind: r.prometheus.Targets == nil || r.blind}
	if out.Blind {
		out.Watch = r.watching.number() // at least the watch was received
	}
	if r.last != nil {
		out.Age = new(int(now.Sub(r.at).Seconds()))
	}
	for _, name := range slices.Sorted(maps.Keys(requested)) {
		one := targetreport.Job{Job: name}
		if f := requested[name]; f.job != jobs[name] {
			one.Fetched = f.version.String()
		}
		of := r.last.of(name, jobs[name])
		if one.Pending = of == nil; of != nil {
			one.Served, one.Active = of.served, of.active
			one.Dropped, one.Missing, one.Unlisted = of.suspects[targetreport.Dropped].confirmed(r.at), of.suspects[targetreport.Missing].confirmed(r.at), of.suspects[targetreport.Unlisted].confirmed(r.at)
			out.Compared++
			out.Served += of.served
			out.Active += of.active
		}
		if one.Pending || one.Served != one.Active || one.Disagreements() > 0 {
			out.Jobs = append(out.Jobs, one)
		}
	}
	return out, ok
}

// setBlind records whether Prometheus refuses queries. A Prometheus that does not respond at all, such as during its
// startup, scrapes nothing and does not count as blind.
func (r *reporter) setBlind(err error) {
	r.blind = refuses(err)
}

// progress returns the last version of the list of which Prometheus has requested all jobs. It ignores jobs that
// Prometheus has not requested for a while, because they are not in its configuration yet.
func (r *reporter) progress(now time.Time, version Version, jobs map[string]*job, requested map[string]fetch) Version {
	if jobs != nil && len(jobs) == 0 { // an empty list is never requested
		r.fetched = version
	}
	if len(requested) == 0 {
		return r.fetched
	}
	newcomers, wait := map[string]time.Time{}, false
	for name := range jobs {
		if _, is := requested[name]; is {
			continue
		}
		since, known := r.newcomers[name]
		if !known {
			since = now
		}
		newcomers[name] = since
		wait = wait || now.Sub(since) < away
	}
	r.newcomers = newcomers
	if wait {
		return r.fetched
	}
	r.fetched = version
	for name, f := range requested {
		if f.job != jobs[name] && f.version.before(r.fetched) {
			r.fetched = f.version
		}
	}
	return r.fetched
}

// update compares jobs that Prometheus has requested for long enough, unless the last comparison is still
// valid for all of them.
func (r *reporter) update(ctx context.Context, now time.Time, jobs map[string]*job, requested map[string]fetch) (ok bool) {
	_, _, _, confirmed := r.list.size()
	if r.prometheus.Targets == nil || now.Sub(confirmed) > silence {
		r.last = nil // the list may be outdated
		return true
	}
	comparable := map[string]*job{}
	again := r.last == nil || now.Sub(r.at) >= compareAgain*r.every
	for name, f := range requested {
		if f.job != jobs[name] || now.Sub(f.since) < settled {
			continue
		}
		comparable[name] = f.job
		of := r.last.of(name, f.job)
		again = again || of == nil || of.disagrees()
	}
	if !again || len(comparable) == 0 {
		return true
	}
	next, err := compare(ctx, comparable, r.prometheus, !r.foreign)
	if err != nil {
		if !r.logged {
			r.log.Warn("The targets of Prometheus cannot be compared with the list of targets", "err", err)
		}
		r.logged, r.last = true, nil
		return false
	}
	r.logged, r.foreign = false, r.foreign || next.foreign
	// Jobs that changed during the comparison were not compared with the same list.
	_, jobs = r.list.snapshot()
	maps.DeleteFunc(next.jobs, func(name string, of *jobComparison) bool { return jobs[name] != of.job })
	for name, of := range next.jobs {
		before := map[targetreport.Kind]suspects{}
		if b := r.last.of(name, nil); b != nil {
			before = b.suspects
		}
		for _, kind := range targetreport.Kinds {
			of.suspects[kind] = before[kind].follow(now, of.targets(kind))
		}
	}
	r.last, r.at = next, now
	return true
}

// of returns the result for a job if it is about this list, or about any list if that is nil. The receiver may be nil.
func (c *comparison) of(name string, j *job) *jobComparison {
	if c == nil {
		return nil
	}
	if of := c.jobs[name]; of != nil && (j == nil || of.job == j) {
		return of
	}
	return nil
}

func (of *jobComparison) disagrees() bool {
	return of.dropped != nil || of.missing != nil || of.unlisted != nil
}

func (of *jobComparison) targets(kind targetreport.Kind) *targetreport.Targets {
	return (&targetreport.Job{Dropped: of.dropped, Missing: of.missing, Unlisted: of.unlisted}).Of(kind)
}

// suspects are the targets of one kind that all comparisons since a time have found.
type suspects struct {
	since time.Time
	*targetreport.Targets
}

// follow returns the suspects after a comparison.
func (s suspects) follow(now time.Time, found *targetreport.Targets) suspects {
	if found == nil {
		return suspects{}
	}
	next := suspects{now, found}
	if s.Targets == nil {
		return next
	}
	both := &targetreport.Targets{Count: min(s.Count, found.Count), Names: slices.DeleteFunc(slices.Clone(found.Names), func(name string) bool {
		return !slices.Contains(s.Names, name)
	})}
	if len(both.Names) == 0 && both.Count <= targetreport.MaxTargets {
		return next
	}
	return suspects{s.since, both}
}

// confirmed returns the targets that comparisons have found for [confirmAfter]. Prometheus and the discovery service do
// not see a change at the same time, and one of them may have to reconnect to the API server.
func (s suspects) confirmed(now time.Time) *targetreport.Targets {
	if s.Targets == nil || now.Sub(s.since) < confirmAfter {
		return nil
	}
	return s.Targets
}
