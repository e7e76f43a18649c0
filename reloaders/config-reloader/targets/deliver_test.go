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
		if !strings.Contains(p.log.String(), "invalid request for reports") {
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
func TestNoInventoryWithoutRequest(t *testing.T) {
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
