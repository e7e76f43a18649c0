package livetargets

import (
	"cmp"
	"hash/maphash"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Limits of overlaps. maxScrapes is the number of URLs of a pod that are compared, maxCompared that
// of a workload, which takes about a tenth of a second each time.
const (
	maxScrapes   = 1000
	maxCompared  = 10_000
	maxOverlaps  = 20
	comparePause = 20 * time.Second
)

// overlaps collects the jobs that scrape the same URL.
type overlaps struct{ all map[scrapedURL]*overlap }

// overlap is a URL with the job that was added last.
type overlap struct {
	insight.Overlap
	last *job
}

// scrapedURL is a URL in a workload.
type scrapedURL struct {
	workload catalog.Ref
	url      string
}

// add adds a target, those of a job one after the other. A job with several targets of the same URL,
// such as a pod behind two Services, counts once. shown is the URL as the caller may see it.
func (o *overlaps) add(j openJob, url, shown string) {
	key := scrapedURL{j.of, url}
	one := o.all[key]
	if one == nil {
		if o.all == nil {
			o.all = map[scrapedURL]*overlap{}
		}
		one = &overlap{Overlap: insight.Overlap{Workload: j.of, URL: shown}}
		o.all[key] = one
	}
	if one.last == j.job {
		return
	}
	one.last = j.job
	one.Jobs++
	if !slices.Contains(one.Objects, j.object.Ref) && len(one.Objects) < maxOverlaps {
		one.Objects = append(one.Objects, j.object.Ref)
	}
}

// list returns the URLs that several jobs scrape, those with most jobs first.
func (o *overlaps) list() (out []insight.Overlap) {
	for _, one := range o.all {
		if one.Jobs > 1 {
			out = append(out, one.Overlap)
		}
	}
	slices.SortFunc(out, func(a, b insight.Overlap) int {
		return cmp.Or(b.Jobs-a.Jobs, compareRefs(a.Workload, b.Workload), strings.Compare(a.URL, b.URL))
	})
	return out[:min(len(out), maxOverlaps)]
}

// compared is the result of comparing the URLs of all jobs of a workload.
type compared struct {
	at      time.Time
	of      comparedTargets
	objects map[catalog.Ref]bool
}

// comparedTargets identifies the targets that were compared.
type comparedTargets struct {
	since      time.Time
	jobs, kept int
}

// overlaps returns the objects with URLs that another job scrapes too, as they were compared last;
// nil if that is not known. It starts a comparison in the background if targets have changed.
func (w *workload) overlaps(jobs []shownJob, kept int) map[catalog.Ref]bool {
	now := comparedTargets{jobs: len(jobs), kept: kept}
	for _, j := range jobs {
		if at := j.set.Since(); at.After(now.since) {
			now.since = at
		}
	}
	last := w.compared.Load()
	if kept > maxCompared {
		return nil
	}
	if (last == nil || last.of != now && time.Since(last.at) >= comparePause) && w.comparing.CompareAndSwap(false, true) {
		go func() {
			defer w.comparing.Store(false)
			comparing.Lock() // one at a time
			defer comparing.Unlock()
			defer func() {
				if fault := recover(); fault != nil { // outside the request that started it
					w.compared.Store(&compared{time.Now(), now, nil})
					w.source.fault("panic while comparing the URLs of jobs", w.Ref, fault)
				}
			}()
			w.compared.Store(&compared{time.Now(), now, compare(jobs)})
		}()
	}
	if last == nil {
		return nil
	}
	return last.objects
}

// fault logs a panic outside of requests.
func (s *Source) fault(message string, of catalog.Ref, fault any) {
	if s.Log != nil {
		s.Log.Error(message, "workload", of.String(), "err", fault, "stack", string(debug.Stack()))
	}
}

// comparing serializes comparisons of targets, which take memory.
var comparing sync.Mutex

// comparison finds URLs that several jobs scrape.
type comparison struct {
	seed  maphash.Seed
	first map[uint64]*job // by hash of the URL
	out   map[catalog.Ref]bool
	left  int // targets that may still be compared
}

// compare returns the objects with URLs that several jobs scrape.
func compare(jobs []shownJob) map[catalog.Ref]bool {
	c := comparison{maphash.MakeSeed(), map[uint64]*job{}, map[catalog.Ref]bool{}, 2 * maxCompared} // there may be more targets by now
	for _, j := range jobs {
		all := targetset.Filter{State: targets.Kept, Shard: targetset.AllShards}
		for more, after := true, (*targetset.Key)(nil); more; more = after != nil && c.left > 0 {
			after = j.set.Page(after, batch, all, func(_ targetset.Key, r targets.Result) bool {
				c.add(j.job, r)
				return c.left > 0
			})
		}
	}
	return c.out
}

// add adds the kept targets of a job.
func (c *comparison) add(j *job, r targets.Result) {
	for i := range r.Rows {
		if r.Rows[i].State != targets.Kept {
			continue
		}
		url := maphash.String(c.seed, r.Target(i).URL)
		switch other := c.first[url]; other {
		case nil:
			c.first[url] = j
		case j:
		default:
			c.out[other.object.Ref], c.out[j.object.Ref] = true, true
		}
		c.left--
	}
}
