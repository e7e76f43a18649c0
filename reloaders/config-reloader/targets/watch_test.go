package targets

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// watch returns the line of the stream for units "ID=JOB ADDRESS,JOB ADDRESS".
func watch(seq int, units ...string) string {
	var out []string
	for _, u := range units {
		id, targets, _ := strings.Cut(u, "=")
		var each []string
		for _, target := range strings.Split(targets, ",") {
			job, address, _ := strings.Cut(target, " ")
			each = append(each, fmt.Sprintf(`%q:[%q]`, job, address))
		}
		out = append(out, fmt.Sprintf(`{"id":%q,"targets":{%s}}`, id, strings.Join(each, ",")))
	}
	return fmt.Sprintf("{\"watch\":{\"seq\":%d,\"units\":[%s]}}\n", seq, strings.Join(out, ","))
}

// watches makes the reporter watch units.
func (r *reported) watches(seq int, units ...string) {
	r.t.Helper()
	text := watch(seq, units...)
	w, err := targetreport.DecodeWatch([]byte(strings.TrimSuffix(strings.TrimPrefix(text, `{"watch":`), "}\n")))
	must(r.t, err)
	_, jobs := r.list.snapshot()
	r.watching.set(w, jobs)
}

// wantsWatch compares the next report about watched units and the list with the wanted one.
func (r *reported) wantsWatch(what, want string) {
	r.t.Helper()
	out, ok := r.report(r.t.Context(), r.now, false)
	got := fmt.Sprintf("%d: %v of %s, fetched %q", out.Watch, out.Scraped, out.Version, out.Fetched)
	if out.Blind {
		got += ", blind"
	}
	if !ok {
		got += ", failed"
	}
	if got != want {
		r.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// A unit counts as scraped when all of its targets are active and have been scraped since Prometheus requested the list
// with them.
func TestWatched(t *testing.T) {
	r := newReported(t)
	r.now = r.now.Add(time.Minute)
	loaded := r.now
	r.active = nil
	r.watches(4, "u1=a 10.0.0.1:80,b 10.0.0.1:80", "u2=a 10.0.0.2:80", "u3=a 10.0.0.3:80", "u4=c 10.0.0.1:80")
	r.wantsWatch("before Prometheus requests anything", `4: [] of 3-7, fetched ""`)
	r.pass(5*time.Second, "a", "b")
	r.wantsWatch("requested", `4: [] of 3-7, fetched "3-7"`)
	r.active = []string{"a 10.0.0.1:80", "a 10.0.0.2:80", "b 10.0.0.1:80"}
	r.wantsWatch("before a scrape", `4: [] of 3-7, fetched "3-7"`)
	r.scrapedAt(loaded.Add(-time.Second))
	r.wantsWatch("scraped before it was requested", `4: [] of 3-7, fetched "3-7"`)
	r.scrapedAt(loaded.Add(6 * time.Second))
	r.scrapes["b 10.0.0.1:80"] = time.Time{}
	r.wantsWatch("all but one", `4: [u2] of 3-7, fetched "3-7"`)
	r.scrapedAt(loaded.Add(6 * time.Second))
	r.wantsWatch("all", `4: [u1 u2] of 3-7, fetched "3-7"`)
	r.watches(5, "u2=a 10.0.0.2:80", "u1=b 10.0.0.1:80")
	r.wantsWatch("watched on", `5: [u2 u1] of 3-7, fetched "3-7"`)

	// Another change of the job does not matter, but an absence does.
	must(t, feedAt(r.list, r.now, `{"begin":{"version":"3-8","from":"3-7","jobs":1}}{"job":"a","groups":[{"targets":["10.0.0.2:80"]}]}{"end":{"version":"3-8"}}`))
	r.follow()
	r.wantsWatch("another target is gone", `5: [u2 u1] of 3-8, fetched "3-7"`)
	must(t, feedAt(r.list, r.now, `{"begin":{"version":"3-9","from":"3-8","jobs":1}}{"job":"a","groups":[]}{"end":{"version":"3-9"}}`))
	r.follow()
	r.wantsWatch("gone", `5: [u1] of 3-9, fetched "3-7"`)
	r.now = r.now.Add(time.Second)
	must(t, feedAt(r.list, r.now, `{"begin":{"version":"3-10","from":"3-9","jobs":1}}{"job":"a","groups":[{"targets":["10.0.0.2:80"]}]}{"end":{"version":"3-10"}}`))
	r.follow()
	back := r.now
	r.pass(5*time.Second, "a", "b")
	r.scrapedAt(back.Add(2 * time.Second))
	r.wantsWatch("back, and scraped as an earlier list had it", `5: [u1] of 3-10, fetched "3-10"`)
	r.pass(20*time.Second, "a", "b")
	r.scrapedAt(back.Add(applied + time.Second))
	r.wantsWatch("scraped again", `5: [u2 u1] of 3-10, fetched "3-10"`)
	r.watches(6)
	asked := len(r.asked)
	r.wantsWatch("nothing is watched", `6: [] of 3-10, fetched "3-10"`)
	if len(r.asked) != asked {
		t.Error("Prometheus was asked about nothing")
	}
}

// Only a Prometheus that rejects requests is blind: one that does not respond scrapes nothing.
func TestBlind(t *testing.T) {
	r := newReported(t)
	r.pass(5*time.Second, "a", "b")
	r.watches(4, "u1=a 10.0.0.1:80")
	r.down = true
	r.wantsWatch("away", `0: [] of 3-7, fetched "3-7", failed`)
	r.down, r.refuse = false, true
	r.wantsWatch("refused", `4: [] of 3-7, fetched "3-7", blind, failed`)
	r.refuse = false
	r.wantsWatch("again", `4: [] of 3-7, fetched "3-7"`)
	r.prometheus.Targets = nil
	r.wantsWatch("unknown", `4: [] of 3-7, fetched "3-7", blind`)
}

// Prometheus is queried job by job, unless there are many jobs or its version does not support it.
func TestJobsAreQueriedOneByOne(t *testing.T) {
	r := newReported(t)
	asked := func(what string, want ...string) {
		t.Helper()
		r.asked = nil
		r.wantsWatch(what, `4: [] of 3-7, fetched ""`)
		if cmp.Diff(want, r.asked) != "" {
			t.Errorf("%s: %q, want %q", what, r.asked, want)
		}
	}
	r.watches(4, "u1=a 10.0.0.1:80,b 10.0.0.1:80")
	asked("two", "scrapePool=a&state=active", "scrapePool=b&state=active")
	var many []string
	for i := range maxPolledJobs + 1 {
		many = append(many, fmt.Sprintf("u%d=j%d x", i, i))
	}
	r.watches(4, many...)
	asked("many", "state=active")
	r.watches(4, "u1=a 10.0.0.1:80,b 10.0.0.1:80")
	r.old = true
	asked("an old version", "scrapePool=a&state=active")
	asked("an old version again", "state=active")
}

// A version of the list is fetched once Prometheus has requested all jobs since then. Jobs that are not in its
// configuration are ignored after a while.
func TestFetched(t *testing.T) {
	r := newReported(t)
	r.pass(5*time.Second, "a")
	r.wantsWatch("one of two", `0: [] of 3-7, fetched ""`)
	r.pass(away, "a")
	r.wantsWatch("one of one", `0: [] of 3-7, fetched "3-7"`)
	must(t, feed(r.list, `{"begin":{"version":"3-8","from":"3-7","jobs":1}}{"job":"b","groups":[]}{"end":{"version":"3-8"}}`, bounds))
	r.wantsWatch("a job that is not requested changes", `0: [] of 3-8, fetched "3-8"`)
	r.pass(5*time.Second, "a", "b")
	must(t, feed(r.list, `{"begin":{"version":"3-9","from":"3-8","jobs":1}}{"job":"b","groups":[{"targets":["x"]}]}{"end":{"version":"3-9"}}`, bounds))
	must(t, feed(r.list, `{"begin":{"version":"3-10","from":"3-9","jobs":1}}{"job":"a","groups":[]}{"end":{"version":"3-10"}}`, bounds))
	r.wantsWatch("changed", `0: [] of 3-10, fetched "3-8"`)
	r.pass(5*time.Second, "a")
	r.wantsWatch("one of the changes", `0: [] of 3-10, fetched "3-8"`)
	r.pass(5*time.Second, "b")
	r.wantsWatch("both changes", `0: [] of 3-10, fetched "3-10"`)
	r.now = r.now.Add(time.Hour)
	r.wantsWatch("Prometheus is away", `0: [] of 3-10, fetched "3-10"`)
	must(t, feed(r.list, `{"begin":{"version":"3-11","from":"3-10","jobs":2}}{"job":"a","gone":true}{"job":"b","gone":true}{"end":{"version":"3-11"}}`, bounds))
	r.wantsWatch("without jobs", `0: [] of 3-11, fetched "3-11"`)
}
