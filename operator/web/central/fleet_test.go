package central

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
)

// fleet are simulated pods of a workload, which follow their lists and scrape.
type fleet struct {
	b *fixture
	t *testing.T

	mu   sync.Mutex
	of   map[string]*server
	was  map[string]bool // addresses that were scraped
	lost []string
	away bool // the API server does not return the pods
	// times is the factor for the series of all targets.
	times uint64
	slow  time.Duration // time until pods respond to a request
}

// server is a pod. Its Prometheus requests the list 5 s after it arrived, and scrapes new targets 10 s later.
type server struct {
	name        string
	old         bool // of an earlier release, which only reports the version of its list
	stop        context.CancelFunc
	done        chan struct{}
	terminating bool

	pending, list map[string][]string // addresses by job
	version       string
	since         map[string]time.Time // by job and address
	changed       time.Time
	watch         targetreport.Watch
	seq           uint64
	told          time.Time // of its last inventory
}

const polls, scrapes = 5 * time.Second, 10 * time.Second

// Of implements [Replicas].
func (f *fleet) Of(namespace string) (out []*corev1.Pod, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, s := range f.of {
		p := podOf("monitoring", name)
		if s.terminating {
			p.DeletionTimestamp = &p.CreationTimestamp
		}
		if namespace == p.Namespace {
			out = append(out, p)
		}
	}
	return out, !f.away
}

// start starts pods.
func (f *fleet) start(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		f.of[name] = &server{name: name, list: map[string][]string{}, since: map[string]time.Time{}}
		f.run(f.of[name])
	}
}

// run starts the sidecar of a pod.
func (f *fleet) run(s *server) {
	ctx, stop := context.WithCancel(f.t.Context())
	s.stop, s.done = stop, make(chan struct{})
	go func() {
		defer close(s.done)
		for ctx.Err() == nil {
			f.follow(ctx, s)
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
			}
		}
	}()
}

// end ends pods. Their targets are no longer scraped.
func (f *fleet) end(names ...string) {
	for _, name := range names {
		f.mu.Lock()
		s := f.of[name]
		delete(f.of, name)
		f.mu.Unlock()
		s.stop()
		<-s.done
	}
}

func (f *fleet) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.of))
}

// follow follows the list of a pod for one stream.
func (f *fleet) follow(ctx context.Context, s *server) {
	f.mu.Lock()
	have := s.version
	f.mu.Unlock()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, feed.Path+"?have="+have, nil)
	r.Header.Set("Authorization", "Bearer "+s.name)
	f.b.server.ServeHTTP(&lineWriter{ResponseRecorder: httptest.NewRecorder(), line: func(text []byte) { f.line(s, text) }}, r)
}

// lineWriter passes on the lines of a stream.
type lineWriter struct {
	*httptest.ResponseRecorder
	rest []byte
	line func([]byte)
}

func (w *lineWriter) SetReadDeadline(time.Time) error  { return nil }
func (w *lineWriter) SetWriteDeadline(time.Time) error { return nil }
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for w.Code == http.StatusOK {
		at := bytes.IndexByte(w.rest, '\n')
		if at < 0 {
			break
		}
		w.line(w.rest[:at])
		w.rest = w.rest[at+1:]
	}
	return len(p), nil
}

func (f *fleet) line(s *server, text []byte) {
	var m struct {
		Begin, End *struct {
			Version string
			Full    bool
		}
		Job    string
		Gone   bool
		Ask    string
		Watch  *targetreport.Watch
		Groups []struct{ Targets []string }
	}
	if err := json.Unmarshal(text, &m); err != nil {
		f.t.Errorf("%s: %v", text, err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case m.Begin != nil:
		if s.pending = map[string][]string{}; !m.Begin.Full {
			s.pending = maps.Clone(s.list)
		}
	case m.Gone:
		delete(s.pending, m.Job)
	case m.Job != "":
		s.pending[m.Job] = nil
		for _, g := range m.Groups {
			s.pending[m.Job] = append(s.pending[m.Job], g.Targets...)
		}
	case m.End != nil:
		s.version, s.list, s.changed = m.End.Version, s.pending, time.Now()
		f.applied(s)
	case m.Ask != "" && !s.old:
		body := f.inventory(s)
		after := f.slow
		go func() {
			time.Sleep(after)
			code := f.post(targetreport.InventoryPath, s.name, body)
			for attempt := 1; code == http.StatusServiceUnavailable && attempt < 8; attempt++ {
				time.Sleep(time.Second)
				code = f.post(targetreport.InventoryPath, s.name, body)
			}
			if code != http.StatusNoContent {
				f.t.Errorf("the inventory of %s is refused with %d", s.name, code)
			}
		}()
	case m.Watch != nil && !s.old:
		s.watch = *m.Watch
	}
}

// applied records the new targets. Removed ones are scraped until Prometheus requests the list.
func (f *fleet) applied(s *server) {
	now := map[string]bool{}
	for job, addresses := range s.list {
		for _, address := range addresses {
			now[job+" "+address] = true
			if s.since[job+" "+address].IsZero() {
				s.since[job+" "+address] = time.Now()
			}
		}
	}
	maps.DeleteFunc(s.since, func(target string, _ time.Time) bool { return !now[target] })
}

// scraping reports whether a pod scrapes a target.
func (s *server) scraping(job, address string) bool {
	since, has := s.since[job+" "+address]
	return has && time.Since(since) >= polls+scrapes
}

func (f *fleet) inventory(s *server) []byte {
	var out bytes.Buffer
	s.told = time.Now()
	s.seq++
	w, err := targetreport.NewInventoryWriter(&out, targetreport.Inventory{Version: s.version, Boot: 1, Seq: s.seq})
	for job, addresses := range s.list {
		all := map[string]targetreport.InventoryTarget{}
		for _, address := range addresses {
			all[address] = targetreport.InventoryTarget{Series: new(max(1, f.times*seriesOf(address))), Scraped: s.scraping(job, address)}
		}
		err = errors.Join(err, w.Job(job, maps.All(all)))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		f.t.Error(err)
	}
	return out.Bytes()
}

// seriesOf returns the series of a target: some have many.
func seriesOf(address string) uint64 {
	var a, b, c, d, port int
	_, _ = fmt.Sscanf(address, "%d.%d.%d.%d:%d", &a, &b, &c, &d, &port)
	if d%7 == 0 {
		return 1000
	}
	return uint64(100 + 10*(d%40))
}

func (f *fleet) post(path, pod string, body []byte) int {
	w := &lineWriter{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(f.t.Context(), http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+pod)
	mux := http.NewServeMux()
	f.b.server.Register(mux)
	mux.ServeHTTP(w, r)
	return w.Code
}

// report sends the reports of all pods.
func (f *fleet) report() {
	f.mu.Lock()
	bodies, inventories := map[string][]byte{}, map[string][]byte{}
	for name, s := range f.of {
		if s.version == "" {
			continue
		}
		if !s.old && time.Since(s.told) >= 5*time.Minute {
			inventories[name] = f.inventory(s)
		}
		s.seq++
		r := targetreport.Report{Version: s.version}
		if !s.old {
			r.Boot, r.Seq, r.Watch = 1, s.seq, s.watch.Seq
			if time.Since(s.changed) >= polls {
				r.Fetched = s.version
			}
			for _, u := range s.watch.Units {
				all := true
				for job, addresses := range u.Targets {
					for _, address := range addresses {
						all = all && s.scraping(job, address)
					}
				}
				if all {
					r.Scraped = append(r.Scraped, u.ID)
				}
			}
		}
		text, err := r.Encode()
		if err != nil {
			f.t.Error(err)
		}
		bodies[name] = text
	}
	f.mu.Unlock()
	for name, text := range bodies {
		f.post(targetreport.Path, name, text)
	}
	for name, text := range inventories {
		if code := f.post(targetreport.InventoryPath, name, text); code != http.StatusNoContent && code != http.StatusServiceUnavailable && code != http.StatusConflict { // the last: its stream has just ended
			f.t.Errorf("an inventory is refused with %d", code)
		}
	}
}

// pass advances the time. It fails if a target that was scraped no longer is.
func (f *fleet) pass(d time.Duration) {
	f.t.Helper()
	for range int(d / (2 * time.Second)) {
		settled(2 * time.Second)
		f.report()
		f.mu.Lock()
		is := map[string]bool{}
		for _, s := range f.of {
			for job, addresses := range s.list {
				for _, address := range addresses {
					if s.scraping(job, address) {
						is[address] = true
					}
				}
			}
		}
		for address := range f.was {
			if !is[address] {
				f.lost = append(f.lost, address)
			}
		}
		f.was = is
		f.mu.Unlock()
	}
}

// on returns the shards that scrape each address.
func (f *fleet) on() map[string][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(f.of)) {
		s := f.of[name]
		for job, addresses := range s.list {
			for _, address := range addresses {
				set := name[:strings.LastIndex(name, "-")]
				if s.scraping(job, address) && !slices.Contains(out[address], set) {
					out[address] = append(out[address], set)
				}
			}
		}
	}
	return out
}

// single checks that each of n targets is scraped by one shard.
func (f *fleet) single(n int) {
	f.t.Helper()
	on := f.on()
	for address, shards := range on {
		if len(shards) != 1 {
			f.t.Errorf("%s is scraped by %v", address, shards)
		}
	}
	if len(on) != n {
		f.t.Errorf("%d targets are scraped, want %d", len(on), n)
	}
	if len(f.lost) > 0 {
		f.t.Errorf("%d times a target was not scraped any more, such as %s", len(f.lost), f.lost[0])
	}
}

// fullest returns the series of the fullest shard by the mean.
func (f *fleet) fullest(n int) float64 {
	sums, total := map[string]uint64{}, uint64(0)
	for address, shards := range f.on() {
		for _, shard := range shards {
			sums[shard] += seriesOf(address)
			total += seriesOf(address)
		}
	}
	most := uint64(0)
	for _, sum := range sums {
		most = max(most, sum)
	}
	return float64(most) * float64(n) / float64(total)
}
