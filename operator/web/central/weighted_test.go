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
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// fleet are simulated pods of a workload, which follow their lists and scrape.
type fleet struct {
	b *bed
	t *testing.T

	mu   sync.Mutex
	of   map[string]*server
	was  map[string]bool // addresses that were scraped
	lost []string
	away bool // the API server does not say which pods there are
	// times is by what the series of all targets are multiplied.
	times uint64
	slow  time.Duration // until pods answer when they are asked
}

// server is a pod. Its Prometheus requests the list 5 s after it arrived, and scrapes what is new 10 s later.
type server struct {
	name        string
	old         bool // of an earlier release: it reports the version that it has, and nothing else
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

// end ends pods; their targets are not scraped any more.
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

// applied notes which targets are new. Those that go are scraped until Prometheus requests the list.
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

// pass lets time pass, and fails if a target that was scraped is not any more.
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

const weightedText = `
metadata: {namespace: monitoring, name: main, annotations: {firekeeper.dev/target-discovery: central, firekeeper.dev/sharding: weighted}}
spec: {shards: 2, replicas: 2, podMonitorSelector: {}, podMonitorNamespaceSelector: {}, scrapeConfigSelector: {}, serviceAccountName: prometheus}`

func (b *bed) apply(t *testing.T, change ...string) {
	t.Helper()
	b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.NewReplacer(change...).Replace(weightedText)))
}

// setsOf returns the pods of a number of shards with two replicas.
func setsOf(shards ...int) (out []string) {
	for _, shard := range shards {
		set := "prometheus-main"
		if shard > 0 {
			set = fmt.Sprintf("prometheus-main-shard-%d", shard)
		}
		out = append(out, set+"-0", set+"-1")
	}
	return out
}

// weightedBed runs a test with a workload that is placed by series, or is to be.
func weightedBed(t *testing.T, change []string, test func(t *testing.T, b *bed)) {
	t.Helper()
	inBubble(t, func(b *bed) {
		b.addPods(120, "demo", "other")
		b.apply(t, change...)
		b.pods.b, b.pods.of, b.pods.was, b.pods.times = b, map[string]*server{}, map[string]bool{}, 1
	}, func(t *testing.T, b *bed) {
		b.pods.t = t
		b.pods.start(setsOf(0, 1)...)
		defer func() { b.pods.end(b.pods.all()...) }()
		test(t, b)
	})
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

// While the number of shards goes from 2 to 3, 5, 3 and 2, with retention, each target stays scraped, and shards get even.
func TestWeightedShards(t *testing.T) {
	retain := "spec: {shardRetentionPolicy: {whenScaled: Retain}, "
	weightedBed(t, []string{"spec: {", retain}, func(t *testing.T, b *bed) {
		b.pods.pass(3 * time.Minute)
		b.pods.single(120)
		for _, n := range []int{3, 5, 3, 2} {
			b.apply(t, "spec: {", retain, "shards: 2", fmt.Sprintf("shards: %d", n))
			for shard := range n {
				if names := setsOf(shard); !slices.Contains(b.pods.all(), names[0]) {
					b.pods.start(names...)
				}
			}
			b.pods.pass(40 * time.Minute)
			b.pods.single(120)
			if f := b.pods.fullest(n); f > 1.25 { // 24 targets a shard, some of a tenth of the mean
				t.Errorf("%d shards: the fullest has %.2f of the mean", n, f)
			}
		}
		for _, name := range b.pods.all() { // kept ones have all jobs, without targets
			if s := b.pods.of[name]; strings.Contains(name, "shard-2") && (len(s.list[webJob]) > 0 || len(s.list) != 1) {
				t.Errorf("%s has %v", name, s.list)
			}
		}
	})
}

// Pods that are deleted at once, without retention, lose their targets to others soon.
func TestWeightedShardsDeleted(t *testing.T) {
	weightedBed(t, []string{"shards: 2", "shards: 3"}, func(t *testing.T, b *bed) {
		b.pods.start(setsOf(2)...)
		b.pods.pass(10 * time.Minute)
		b.pods.single(120)
		b.apply(t)
		b.pods.end(setsOf(2)...)
		b.pods.pass(time.Minute)
		b.pods.lost = nil
		b.pods.single(120)
	})
}

// From hash to weighted and back, targets move with an overlap, and end where their hash says. So do those of pods of an
// earlier release.
func TestWeightedAndBack(t *testing.T) {
	for _, old := range []bool{false, true} {
		weightedBed(t, []string{"weighted", "hash", "shards: 2", "shards: 5"}, func(t *testing.T, b *bed) {
			b.pods.start(setsOf(2, 3, 4)...)
			for _, s := range b.pods.of {
				s.old = old
			}
			b.pods.pass(2 * time.Minute)
			b.pods.single(120)
			before := b.pods.on()
			b.apply(t, "shards: 2", "shards: 5")
			b.pods.pass(30 * time.Minute)
			b.pods.single(120)
			moved := 0
			for address, shards := range b.pods.on() {
				if !slices.Equal(shards, before[address]) {
					moved++
				}
			}
			if moved == 0 && !old {
				t.Error("nothing moved")
			}
			b.apply(t, "weighted", "hash", "shards: 2", "shards: 5")
			b.pods.pass(30 * time.Minute)
			b.pods.single(120)
			for address, shards := range b.pods.on() {
				if !slices.Equal(shards, before[address]) {
					t.Errorf("old %v: %s is on %v, and was on %v", old, address, shards, before[address])
				}
			}
		})
	}
}

// A new leader that knows nothing continues with what pods have: nothing moves, and targets that are on their way stay
// scraped.
func TestWeightedLeaders(t *testing.T) {
	weightedBed(t, nil, func(t *testing.T, b *bed) {
		b.pods.pass(10 * time.Minute)
		b.pods.single(120)
		before := b.pods.on()
		b.server.Feed.Lead(0)
		b.pods.pass(10 * time.Second)
		b.server.Feed.Lead(4)
		b.pods.pass(5 * time.Minute)
		b.pods.single(120)
		for address, shards := range b.pods.on() {
			if !slices.Equal(shards, before[address]) {
				t.Errorf("%s moved from %v to %v", address, before[address], shards)
			}
		}
		b.apply(t, "shards: 2", "shards: 3")
		b.pods.start(setsOf(2)...)
		for leader := range uint64(10) {
			b.pods.pass(time.Minute)
			b.server.Feed.Lead(5 + leader)
		}
		b.pods.pass(30 * time.Minute)
		b.pods.single(120)
		if n := len(b.pods.of["prometheus-main-shard-2-0"].list[webJob]); n < 20 {
			t.Errorf("the new shard has %d targets", n)
		}
	})
}

// followerBed runs a test with a replica that follows, and pods with the lists of another one: each shard has every so many
// of 120 targets.
func followerBed(t *testing.T, shards int, test func(t *testing.T, b *bed)) {
	t.Helper()
	inBubble(t, func(b *bed) {
		b.server.Feed.Lead(0)
		b.addPods(120, "demo", "other")
		b.apply(t, "shards: 2", fmt.Sprint("shards: ", shards))
		b.api.Kind("nodes").Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
		b.pods.b, b.pods.of, b.pods.was, b.pods.times = b, map[string]*server{}, map[string]bool{}, 1
	}, func(t *testing.T, b *bed) {
		b.pods.t = t
		for shard := range shards {
			b.pods.start(setsOf(shard)...)
		}
		defer func() { b.pods.end(b.pods.all()...) }()
		b.pods.mu.Lock()
		for i := range 120 {
			target := pod("demo", "web", "web", i).Status.PodIP + ":80"
			for _, name := range setsOf(i % shards) {
				s := b.pods.of[name]
				s.version, s.list[webJob] = "2-1", append(s.list[webJob], target)
				s.since[webJob+" "+target] = time.Now().Add(-time.Hour)
			}
		}
		b.pods.mu.Unlock()
		b.pods.pass(10 * time.Second)
		if n := len(b.pods.was); n != 120 {
			t.Fatalf("%d targets are scraped at the start", n)
		}
		test(t, b)
	})
}

// A replica that followed while the number of shards fell leads with what pods have, also those of shards that have to go.
func TestWeightedFollowerLeads(t *testing.T) {
	followerBed(t, 4, func(t *testing.T, b *bed) {
		b.apply(t)
		b.pods.pass(10 * time.Second)
		b.server.Feed.Lead(4)
		b.pods.pass(20 * time.Minute)
		b.pods.single(120)
		for address, shards := range b.pods.on() {
			if last := shards[len(shards)-1]; last != "prometheus-main" && last != "prometheus-main-shard-1" {
				t.Errorf("%s is on %v", address, shards)
			}
		}
	})
}

// What pods say while the targets of a changed job are not complete does not make a new leader move targets.
func TestWeightedInventoryBeforeTargets(t *testing.T) {
	followerBed(t, 2, func(t *testing.T, b *bed) {
		b.pods.slow = 8 * time.Second
		b.server.Feed.Lead(4)
		b.pods.pass(4 * time.Second)
		nodes := make(chan struct{})
		b.api.Delay("nodes", nodes)
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, monitorText+"\n  attachMetadata: {node: true}"))
		b.pods.pass(8 * time.Second)
		close(nodes)
		b.pods.pass(5 * time.Minute)
		b.pods.single(120)
	})
}

// A new pod gets its list also while the targets of a job are not complete: it has none of them.
func TestWeightedNewPodBeforeTargets(t *testing.T) {
	weightedBed(t, nil, func(t *testing.T, b *bed) {
		b.pods.pass(10 * time.Minute)
		nodes := make(chan struct{})
		defer close(nodes)
		b.api.Delay("nodes", nodes)
		slow := read[v1.PodMonitor](t, monitorText+"\n  attachMetadata: {node: true}")
		slow.Name = "slow"
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), slow)
		b.pods.pass(10 * time.Second)
		b.pods.start("prometheus-main-2")
		b.pods.pass(time.Minute)
		if n := len(b.pods.of["prometheus-main-2"].list[webJob]); n < 40 {
			t.Errorf("the new pod has %d targets", n)
		}
	})
}

// A leader that dies while a new shard is filled leaves no shard with less than it should have, also with few targets of one
// series.
func TestWeightedLeaderDiesDuringChange(t *testing.T) {
	for _, after := range []time.Duration{2 * time.Second, 14 * time.Second, 30 * time.Second} {
		inBubble(t, func(b *bed) {
			b.addPods(6, "demo", "other")
			b.apply(t)
			b.pods.b, b.pods.of, b.pods.was = b, map[string]*server{}, map[string]bool{}
		}, func(t *testing.T, b *bed) {
			b.pods.t = t
			b.pods.start(setsOf(0, 1)...)
			defer func() { b.pods.end(b.pods.all()...) }()
			b.pods.pass(10 * time.Minute)
			b.apply(t, "shards: 2", "shards: 3")
			b.pods.start(setsOf(2)...)
			b.pods.pass(after)
			b.server.Feed.Lead(0)
			b.pods.pass(20 * time.Second)
			b.server.Feed.Lead(9)
			b.pods.pass(15 * time.Minute)
			b.pods.single(6)
			on := map[string]int{}
			for _, shards := range b.pods.on() {
				on[shards[0]]++
			}
			if want := map[string]int{"prometheus-main": 2, "prometheus-main-shard-1": 2, "prometheus-main-shard-2": 2}; !maps.Equal(on, want) {
				t.Errorf("after %s: %v", after, on)
			}
		})
	}
}

// The pods of workloads are watched where they are asked for, trimmed, and not known before that.
func TestReplicas(t *testing.T) {
	inBubble(t, func(*bed) {}, func(t *testing.T, b *bed) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		b.api.Kind("pods").Add(podOf("monitoring", "prometheus-main-0"))
		all := Watch(ctx, func(namespace string) *cache.ListWatch {
			return b.lists(discovery.Kind{Role: "pod", Resource: readers.Pods}, namespace)
		})
		if _, ok := all.Of("monitoring"); ok {
			t.Error("known before they were read")
		}
		settled(time.Second)
		pods, ok := all.Of("monitoring")
		if !ok || len(pods) != 1 || pods[0].Name != "prometheus-main-0" || len(pods[0].OwnerReferences) != 1 {
			t.Errorf("%v %v", pods, ok)
		}
		settled(unusedFor)
		all.Of("demo")
		if _, ok := all.Of("monitoring"); ok {
			t.Error("still watched")
		}
		settled(time.Second)
	})
}

// Soon after the API server is back, the pods of workloads are known, however long it was away.
func TestReplicasAfterAnOutage(t *testing.T) {
	inBubble(t, func(*bed) {}, func(t *testing.T, b *bed) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		b.api.Kind("pods").Add(podOf("monitoring", "prometheus-main-0"))
		back := time.Now().Add(time.Hour)
		all := Watch(ctx, func(namespace string) *cache.ListWatch {
			there := b.lists(discovery.Kind{Role: "pod", Resource: readers.Pods}, namespace)
			list := there.ListWithContextFunc
			there.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				if time.Now().Before(back) {
					return nil, &url.Error{Op: "Get", URL: "https://api.example", Err: errors.New("connection refused")}
				}
				return list(ctx, o)
			}
			return there
		})
		all.Of("monitoring")
		settled(time.Until(back) + 8*time.Second)
		if _, ok := all.Of("monitoring"); !ok {
			t.Error("not known")
		}
		stop()
		settled(time.Second)
	})
}

// The page and the metrics say what is where, what moves and why; the standby is ready without lists of its own.
func TestWeightedStatus(t *testing.T) {
	weightedBed(t, nil, func(t *testing.T, b *bed) {
		b.server.Feed.Lead(0)
		b.pods.pass(time.Minute)
		if s := b.StatusOf(b.server); !b.Ready() || len(s.Workloads[0].Shards) != 0 || s.Workloads[0].Balance == nil || s.Workloads[0].Balance.Ready {
			t.Errorf("standby: ready %v, %+v", b.Ready(), s.Workloads[0])
		}
		b.server.Feed.Lead(4)
		b.pods.pass(10 * time.Minute)
		b.apply(t, "shards: 2", "shards: 3")
		b.pods.pass(10 * time.Second)
		text := b.StatusOf(b.server).table(time.Now())
		if !strings.Contains(text, "2      0       0.00     0      new") {
			t.Errorf("a shard without pods:\n%s", text)
		}
		b.pods.start(setsOf(2)...)
		b.pods.pass(30 * time.Second)
		text = b.StatusOf(b.server).table(time.Now())
		for _, want := range []string{"STATE  SCRAPED BY PODS\n", "units of targets are on their way between shards", `:80" of demo, `, " to 2 (fill)\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		b.pods.pass(20 * time.Minute)
		text = b.metrics(t)
		for _, want := range []string{`moves_total{event="slow"} 0`, "moving_units 0", "blocked_units 0", "shard_imbalance 1."} {
			if !strings.Contains(text, "\nprometheus_operator_discovery_"+want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		if strings.Contains(text, `moves_total{event="done"} 0`) {
			t.Error(text)
		}
		b.apply(t, "sharding: weighted", "sharding: hash", "shards: 2", "shards: 3")
		b.pods.pass(30 * time.Minute)
		if s := b.StatusOf(b.server).Workloads[0]; s.Balance != nil || strings.Contains(b.metrics(t), `moves_total{event="done"} 0`) {
			t.Errorf("after weighted: %+v", s)
		}
		b.pods.single(120)
	})
}

// A shard is given up when its pods are gone for long, which an Event says; not while the pods are not known, and never if
// the annotation says so.
func TestWeightedDeadShard(t *testing.T) {
	for _, after := range []string{"5m", "never"} {
		weightedBed(t, []string{"sharding: weighted", "sharding: weighted, firekeeper.dev/reassign-after: " + after, "shards: 2", "shards: 3"}, func(t *testing.T, b *bed) {
			b.pods.start(setsOf(2)...)
			b.pods.pass(10 * time.Minute)
			b.pods.single(120)
			b.pods.mu.Lock()
			b.pods.away = true
			b.pods.mu.Unlock()
			b.pods.end(setsOf(1)...)
			b.pods.pass(10 * time.Minute)
			gone := 120 - len(b.pods.on())
			if gone < 20 {
				t.Errorf("moved while the pods are not known: only %d targets are not scraped", gone)
			}
			b.pods.mu.Lock()
			b.pods.away, b.pods.lost = false, nil
			b.pods.mu.Unlock()
			b.sent()
			b.pods.pass(7 * time.Minute)
			if n := len(b.pods.on()); (n == 120) != (after == "5m") {
				t.Errorf("after %s: %d targets are scraped", after, n)
			}
			if got := strings.Join(b.sent(), "\n"); strings.Contains(got, "ShardGivenUp shard 1 has had no ready pod for too long") != (after == "5m") {
				t.Errorf("after %s: Events %s", after, got)
			}
			b.pods.start(setsOf(1)...)
			b.pods.pass(20 * time.Minute)
			b.pods.single(120)
		})
	}
}

// Namespaces whose targets take more than their share of the memory for units keep what they have by hash: nothing is
// lost.
func TestWeightedRoom(t *testing.T) {
	inBubble(t, func(b *bed) {
		b.addPods(120, "demo", "other")
		b.apply(t)
		b.Units = targetset.NewRoom(20_000)
		b.pods.b, b.pods.of, b.pods.was, b.pods.times = b, map[string]*server{}, map[string]bool{}, 1
	}, func(t *testing.T, b *bed) {
		b.pods.t = t
		b.pods.start(setsOf(0, 1)...)
		defer func() { b.pods.end(b.pods.all()...) }()
		b.pods.pass(5 * time.Minute)
		b.pods.single(120)
		if n := b.StatusOf(b.server).Workloads[0].Balance.Units; n == 0 || n > 40 {
			t.Errorf("%d units", n)
		}
	})
}
