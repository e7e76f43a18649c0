package targets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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

// tells compares the next report about watched units and the list with the wanted one.
func (r *reported) tells(what, want string) {
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
	r.tells("before Prometheus requests anything", `4: [] of 3-7, fetched ""`)
	r.pass(5*time.Second, "a", "b")
	r.tells("requested", `4: [] of 3-7, fetched "3-7"`)
	r.active = []string{"a 10.0.0.1:80", "a 10.0.0.2:80", "b 10.0.0.1:80"}
	r.tells("before a scrape", `4: [] of 3-7, fetched "3-7"`)
	r.scrapedAt(loaded.Add(-time.Second))
	r.tells("scraped before it was requested", `4: [] of 3-7, fetched "3-7"`)
	r.scrapedAt(loaded.Add(6 * time.Second))
	r.scrapes["b 10.0.0.1:80"] = time.Time{}
	r.tells("all but one", `4: [u2] of 3-7, fetched "3-7"`)
	r.scrapedAt(loaded.Add(6 * time.Second))
	r.tells("all", `4: [u1 u2] of 3-7, fetched "3-7"`)
	r.watches(5, "u2=a 10.0.0.2:80", "u1=b 10.0.0.1:80")
	r.tells("watched on", `5: [u2 u1] of 3-7, fetched "3-7"`)

	// Another change of the job does not matter, but an absence does.
	must(t, feedAt(r.list, r.now, `{"begin":{"version":"3-8","from":"3-7","jobs":1}}{"job":"a","groups":[{"targets":["10.0.0.2:80"]}]}{"end":{"version":"3-8"}}`))
	r.follow()
	r.tells("another target is gone", `5: [u2 u1] of 3-8, fetched "3-7"`)
	must(t, feedAt(r.list, r.now, `{"begin":{"version":"3-9","from":"3-8","jobs":1}}{"job":"a","groups":[]}{"end":{"version":"3-9"}}`))
	r.follow()
	r.tells("gone", `5: [u1] of 3-9, fetched "3-7"`)
	r.now = r.now.Add(time.Second)
	must(t, feedAt(r.list, r.now, `{"begin":{"version":"3-10","from":"3-9","jobs":1}}{"job":"a","groups":[{"targets":["10.0.0.2:80"]}]}{"end":{"version":"3-10"}}`))
	r.follow()
	back := r.now
	r.pass(5*time.Second, "a", "b")
	r.scrapedAt(back.Add(2 * time.Second))
	r.tells("back, and scraped as an earlier list had it", `5: [u1] of 3-10, fetched "3-10"`)
	r.pass(20*time.Second, "a", "b")
	r.scrapedAt(back.Add(applied + time.Second))
	r.tells("scraped again", `5: [u2 u1] of 3-10, fetched "3-10"`)
	r.watches(6)
	asked := len(r.asked)
	r.tells("nothing is watched", `6: [] of 3-10, fetched "3-10"`)
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
	r.tells("away", `0: [] of 3-7, fetched "3-7", failed`)
	r.down, r.refuse = false, true
	r.tells("refused", `4: [] of 3-7, fetched "3-7", blind, failed`)
	r.refuse = false
	r.tells("again", `4: [] of 3-7, fetched "3-7"`)
	r.prometheus.Targets = nil
	r.tells("unknown", `4: [] of 3-7, fetched "3-7", blind`)
}

// Prometheus is queried job by job, unless there are many jobs or its version does not support it.
func TestLooksAtJobs(t *testing.T) {
	r := newReported(t)
	asked := func(what string, want ...string) {
		t.Helper()
		r.asked = nil
		r.tells(what, `4: [] of 3-7, fetched ""`)
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
	r.tells("one of two", `0: [] of 3-7, fetched ""`)
	r.pass(away, "a")
	r.tells("one of one", `0: [] of 3-7, fetched "3-7"`)
	must(t, feed(r.list, `{"begin":{"version":"3-8","from":"3-7","jobs":1}}{"job":"b","groups":[]}{"end":{"version":"3-8"}}`, bounds))
	r.tells("a job that is not requested changes", `0: [] of 3-8, fetched "3-8"`)
	r.pass(5*time.Second, "a", "b")
	must(t, feed(r.list, `{"begin":{"version":"3-9","from":"3-8","jobs":1}}{"job":"b","groups":[{"targets":["x"]}]}{"end":{"version":"3-9"}}`, bounds))
	must(t, feed(r.list, `{"begin":{"version":"3-10","from":"3-9","jobs":1}}{"job":"a","groups":[]}{"end":{"version":"3-10"}}`, bounds))
	r.tells("changed", `0: [] of 3-10, fetched "3-8"`)
	r.pass(5*time.Second, "a")
	r.tells("one of the changes", `0: [] of 3-10, fetched "3-8"`)
	r.pass(5*time.Second, "b")
	r.tells("both changes", `0: [] of 3-10, fetched "3-10"`)
	r.now = r.now.Add(time.Hour)
	r.tells("Prometheus is away", `0: [] of 3-10, fetched "3-10"`)
	must(t, feed(r.list, `{"begin":{"version":"3-11","from":"3-10","jobs":2}}{"job":"a","gone":true}{"job":"b","gone":true}{"end":{"version":"3-11"}}`, bounds))
	r.tells("without jobs", `0: [] of 3-11, fetched "3-11"`)
}

// posts records the requests of a client to the service.
type posts struct {
	mu   sync.Mutex
	all  []string // "SECONDS PATH"
	body map[string][][]byte
	code int
}

func (p *posts) send(began time.Time) func(context.Context, *url.URL, http.Header, []byte) (*http.Response, error) {
	return func(_ context.Context, u *url.URL, h http.Header, body []byte) (*http.Response, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all = append(p.all, fmt.Sprintf("%d %s%s", int(time.Since(began).Seconds()), u.Path, h.Get("Content-Encoding")))
		if p.body == nil {
			p.body = map[string][][]byte{}
		}
		p.body[u.Path] = append(p.body[u.Path], body)
		return &http.Response{StatusCode: max(p.code, 200), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
	}
}

// answer sets the status of the responses.
func (p *posts) answer(code int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code = code
}

func (p *posts) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.all
	p.all = nil
	return out
}

func (p *posts) last(t *testing.T) targetreport.Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.body[targetreport.Path]
	r, err := targetreport.Decode(all[len(all)-1])
	must(t, err)
	return r
}

// A report about watched targets is sent at least every five seconds, and at most every two. An inventory is sent
// immediately on request, and then periodically.
func TestWatchAndInventoryAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		p.client.opts.Report, p.client.opts.Inventory = time.Hour, 5*time.Minute
		sent := &posts{}
		p.client.send = sent.send(time.Now())
		defer p.run()()
		keep := func(d time.Duration) {
			for range d / time.Second {
				time.Sleep(time.Second)
				p.send(`{"ping":{"version":"3-7"}}` + "\n")
			}
		}
		want := func(what string, all ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(all, sent.take()); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		p.send(`{"ask":"inventory"}` + "\n") // an empty one: the pod has no list
		want("asked", "0 /v1/inventorygzip")
		p.send(watch(1, "u1=a x"))
		keep(3 * time.Second)
		want("watched without a list")
		p.send(start)
		keep(2 * time.Second)
		p.send(watch(2, "u1=a x"))
		want("watched", "4 /v1/reports")
		if r := sent.last(t); r.Watch != 1 || r.Version != "3-7" || !r.Blind || r.Boot != 946684800000 || r.Seq != 2 {
			t.Errorf("%+v", r)
		}
		p.send(watch(3, "u1=a x"))
		want("another watch within two seconds")
		keep(2 * time.Second)
		want("after two seconds", "6 /v1/reports")
		if r := sent.last(t); r.Watch != 3 {
			t.Errorf("%+v", r)
		}
		keep(10 * time.Second)
		want("nothing changes", "12 /v1/reports")
		p.send(watch(4))
		keep(40 * time.Second)
		want("nothing is watched")
		p.send(watch(5, "a b=a x")) // invalid
		if !strings.Contains(p.log.String(), "not of the protocol") {
			t.Error(p.log)
		}
		p.send(watch(6, "u1=a x"))
		want("watched again", "57 /v1/reports")
		p.hangUp()
		keepQuiet := time.Now()
		time.Sleep(20 * time.Second)
		want("without a stream")
		if time.Since(keepQuiet) < 20*time.Second {
			t.Fatal("the clock is not fake")
		}
		keep(5 * time.Minute)
		inventories := slices.DeleteFunc(sent.take(), func(s string) bool { return !strings.Contains(s, targetreport.InventoryPath) })
		if len(inventories) != 1 {
			t.Errorf("inventories at %v", inventories)
		}
		head := targetreport.Inventory{}
		var jobs []string
		must(t, targetreport.ReadInventory(bytes.NewReader(sent.body[targetreport.InventoryPath][1]), func(i targetreport.Inventory) error { head = i; return nil },
			func(job, address string, _ targetreport.InventoryTarget) error {
				jobs = append(jobs, job+" "+address)
				return nil
			}))
		if head.Version != "3-7" || !head.Blind || len(jobs) == 0 {
			t.Errorf("%+v %v", head, jobs)
		}
	})
}

// A report or an inventory remains true after a crash, because the service removes the reported targets from other
// shards.
func TestReportsAreAboutTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "list")
		p := newPeer(t, file)
		p.client.opts.Report, p.client.opts.Inventory = time.Hour, 7*time.Second
		reports, inventories := 0, 0
		p.client.send = func(_ context.Context, u *url.URL, _ http.Header, body []byte) (*http.Response, error) {
			var said string
			if u.Path == targetreport.Path {
				reports++
				r, err := targetreport.Decode(body)
				must(t, err)
				said = r.Version
			} else {
				inventories++
				must(t, targetreport.ReadInventory(bytes.NewReader(body), func(i targetreport.Inventory) error { said = i.Version; return nil },
					func(string, string, targetreport.InventoryTarget) error { return nil }))
			}
			stored := &list{}
			_, err := stored.load(file, bounds, newPacker())
			must(t, err)
			if got := stored.version.String(); got != said {
				t.Errorf("%s is about list %s, on disk is %s", u.Path, said, got)
			}
			return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
		}
		defer p.run()()
		p.send(start)
		p.send(watch(1, "u1=a x") + `{"ask":"inventory"}` + "\n")
		for seq := range 60 {
			p.send(strings.ReplaceAll(start, "3-7", fmt.Sprint("3-", 8+seq)))
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if reports < 20 || inventories < 6 {
			t.Errorf("%d reports, %d inventories", reports, inventories)
		}
	})
}

// A report that reached only replicas other than the leader is sent again soon, while the stream is open.
func TestNewsIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		p.client.opts.Report = time.Hour
		sent := &posts{code: http.StatusServiceUnavailable}
		p.client.send = sent.send(time.Now())
		defer p.run()()
		p.send(start)
		p.send(watch(1, "u1=a x") + `{"ask":"inventory"}` + "\n")
		keep := func(seconds int, path string) (n int) {
			for range seconds {
				time.Sleep(time.Second)
				p.send(`{"ping":{"version":"3-7"}}` + "\n")
			}
			for _, one := range sent.take() {
				if strings.Contains(one, path) {
					n++
				}
			}
			return n
		}
		if n := keep(12, targetreport.InventoryPath); n != 2*inventoryAttempts {
			t.Errorf("%d attempts of an inventory", n)
		}
		p.send(watch(2, "u1=a x"))
		if n := keep(8, targetreport.Path); n < watchAttempts+1 {
			t.Errorf("%d attempts of reports in 8 s", n)
		}
		sent.answer(http.StatusOK)
		if n := keep(20, targetreport.InventoryPath); n != 1 {
			t.Errorf("%d inventories", n)
		}
		sent.answer(http.StatusServiceUnavailable)
		p.send(`{"ask":"inventory"}` + "\n")
		keep(1, "")
		p.respond(func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
		p.hangUp()
		time.Sleep(20 * time.Second)
		sent.take()
		time.Sleep(time.Minute)
		if all := sent.take(); len(all) > 0 {
			t.Errorf("without a stream: %v", all)
		}
	})
}

// An inventory that the service rejects because of its size is not sent again, because the next one is as large.
func TestAnInventoryThatIsTooLargeIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		p.client.opts.Report, p.client.opts.Inventory = time.Hour, time.Hour
		sent := &posts{code: http.StatusRequestEntityTooLarge}
		p.client.send = sent.send(time.Now())
		defer p.run()()
		p.send(start + `{"ask":"inventory"}` + "\n")
		inventories := func(seconds int) (n int) {
			for range seconds {
				time.Sleep(time.Second)
				p.send(`{"ping":{"version":"3-7"}}` + "\n")
			}
			for _, one := range sent.take() {
				if strings.Contains(one, targetreport.InventoryPath) {
					n++
				}
			}
			return n
		}
		if n := inventories(60); n != 1 {
			t.Errorf("%d attempts", n)
		}
		p.send(`{"ask":"inventory"}` + "\n")
		if n := inventories(60); n != 1 {
			t.Errorf("%d attempts when it is asked for again", n)
		}
	})
}

// A replica of the service that has just died receives requests while its address is still known. The inventory is
// nevertheless delivered before the leader stops waiting for it.
func TestInventoryAfterAReplicaDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		p.client.opts.Report = time.Hour
		sent := &posts{}
		deliver := sent.send(time.Now())
		attempts := 0
		p.client.send = func(ctx context.Context, u *url.URL, h http.Header, body []byte) (*http.Response, error) {
			if attempts++; attempts <= inventoryAttempts+1 {
				return nil, io.ErrUnexpectedEOF
			}
			return deliver(ctx, u, h, body)
		}
		defer p.run()()
		p.send(start + `{"ask":"inventory"}` + "\n")
		for range 15 {
			time.Sleep(time.Second)
			p.send(`{"ping":{"version":"3-7"}}` + "\n")
		}
		if all := sent.take(); len(all) != 1 {
			t.Errorf("%d attempts, delivered %v", attempts, all)
		}
	})
}

// A service of an earlier release receives no inventory.
func TestNoInventoryUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		p.client.opts.Report, p.client.opts.Inventory = time.Minute, time.Minute
		sent := &posts{code: http.StatusNotFound}
		p.client.send = sent.send(time.Now())
		defer p.run()()
		p.send(start)
		time.Sleep(20 * time.Minute)
		for _, one := range sent.take() {
			if !strings.HasSuffix(one, targetreport.Path) {
				t.Error(one)
			}
		}
	})
}
