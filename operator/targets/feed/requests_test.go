package feed

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// listener records the reports of pods.
type listener struct {
	mu      sync.Mutex
	taken   []string
	done    int
	reports []string
	refuse  bool
	again   int           // number of inventories to reject
	block   chan struct{} // nil: Done does not wait
}

func (l *listener) Reported(_ time.Time, from Sender, version, fetched Version, r targetreport.Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reports = append(l.reports, fmt.Sprintf("%d %s %s %v", from.Shard.Number, version, fetched, r.Scraped))
}

func (l *listener) Inventory(from Sender, head targetreport.Inventory) InventoryTaker {
	if l.refuse {
		return nil
	}
	return l
}

func (l *listener) Take(_ time.Time, job, address string, _ targetreport.InventoryTarget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken = append(l.taken, job+" "+address)
}

func (l *listener) Done(time.Time) bool {
	if l.block != nil {
		<-l.block
		<-l.block
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.again > 0 {
		l.again--
		return false
	}
	l.done++
	return true
}

// next returns the next line that is no ping.
func next(t testing.TB, lines *bufio.Reader) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(line, `{"ping"`) {
			return strings.TrimSpace(line)
		}
	}
}

// inventory sends an inventory of some targets and returns the status.
func (s *served) list(t testing.TB, token string, n int) int {
	t.Helper()
	var body bytes.Buffer
	w, err := targetreport.NewInventoryWriter(&body, targetreport.Inventory{Version: "7-1", Boot: 1, Seq: 1})
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]targetreport.InventoryTarget{}
	for i := range n {
		targets[fmt.Sprint("10.0.0.", i)] = targetreport.InventoryTarget{Series: new(uint64(1))}
	}
	if err := w.Job("zero", maps.All(targets)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return s.send(t, http.MethodPost, targetreport.InventoryPath, token, &body).StatusCode
}

// A pod from which the server requests the inventory gets its list once it has sent it, and then each watch once. A workload without
// requests is not affected.
func TestPodSendsItsInventoryBeforeItGetsAList(t *testing.T) {
	s, l := serve(t), &listener{}
	s.Listener = l
	uid := types.UID("uid of monitoring/prometheus-k8s-0")
	watch := func(seq uint64, addresses ...string) map[int]targetreport.Watch {
		w := targetreport.Watch{Seq: seq}
		if len(addresses) > 0 && !w.Add(targetreport.WatchUnit{ID: "u1", Targets: map[string][]string{"zero": addresses}}) {
			t.Fatal("not added")
		}
		return map[int]targetreport.Watch{0: w}
	}
	s.Feed.Request(shard0.Workload, &Requests{Shards: 2})
	lines := bufio.NewReader(s.get(t, s.shard[0], "").Body)
	if got := next(t, lines); got != `{"ask":"inventory"}` {
		t.Fatal(got)
	}
	l.again = 1
	if code := s.list(t, s.shard[0], 3); code != http.StatusServiceUnavailable {
		t.Errorf("an inventory that is not understood: %d", code)
	}
	l.taken = nil
	if code := s.list(t, s.shard[0], 3); code != http.StatusNoContent || len(l.taken) != 3 || l.done != 1 {
		t.Errorf("%d, taken %v", code, l.taken)
	}
	s.Feed.Request(shard0.Workload, &Requests{Shards: 2, Admitted: map[types.UID]bool{uid: true}, Watches: watch(4, "10.0.0.1:80")})
	c := follower{}
	c.follow(t, lines, 1)
	if len(c.jobs) != 1 {
		t.Errorf("%v", c.jobs)
	}
	if got := next(t, lines); got != `{"watch":{"seq":4,"units":[{"id":"u1","targets":{"zero":["10.0.0.1:80"]}}]}}` {
		t.Error(got)
	}
	s.Feed.Request(shard0.Workload, &Requests{Shards: 2, Admitted: map[types.UID]bool{uid: true, "other": true}, Watches: watch(4, "10.0.0.1:80")})
	s.Feed.Request(shard0.Workload, &Requests{Shards: 2, Admitted: map[types.UID]bool{uid: true}, Watches: watch(5)})
	if got := next(t, lines); got != `{"watch":{"seq":5,"units":null}}` {
		t.Error(got)
	}
	if code, text := s.post(t, s.shard[0], `{"version":"7-3","boot":1,"seq":2,"fetched":"7-2","watch":4,"scraped":["u1"]}`); code != http.StatusNoContent {
		t.Errorf("%d %s", code, text)
	}
	if got := fmt.Sprint(l.reports); got != "[0 7-3 7-2 [u1]]" {
		t.Error(got)
	}
	if all := s.Following()[shard0.Workload]; len(all) != 1 || all[0].UID != uid {
		t.Errorf("%+v", all)
	}
	s.Feed.Request(shard0.Workload, nil)
	if got := next(t, lines); got != `{"watch":{"seq":0,"units":[]}}` { // which ends the watch
		t.Error(got)
	}
	s.Feed.Apply(time.Now(), shard0, []Change{jobOf("new", 1)})
	c.follow(t, lines, 1)
	if len(c.jobs) != 2 {
		t.Errorf("%v", c.jobs)
	}
}

// A pod of a shard that is kept after scaling down follows the list of its shard while that has one, and then an empty
// one.
func TestKeptShard(t *testing.T) {
	s := serve(t)
	token := s.run("monitoring", "prometheus-k8s-shard-4", "prometheus")
	uid := types.UID("uid of monitoring/prometheus-k8s-shard-4-0")
	shard4 := shard0
	shard4.Number = 4
	s.Feed.Apply(time.Now(), shard4, []Change{jobOf("four", 2)})
	s.Feed.Request(shard0.Workload, &Requests{Shards: 5, Admitted: map[types.UID]bool{uid: true}})
	lines := bufio.NewReader(s.get(t, token, "").Body)
	c := follower{}
	c.follow(t, lines, 1)
	if !strings.Contains(c.jobs["four"], "10.0.0.1:80") {
		t.Errorf("%v", c.jobs)
	}
	s.Feed.Request(shard0.Workload, &Requests{Shards: 2, Admitted: map[types.UID]bool{uid: true}})
	s.Feed.Drop(shard4)
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("the stream goes on")
	}
	c = follower{}
	c.follow(t, bufio.NewReader(s.get(t, token, "").Body), 1)
	if len(c.jobs) != 1 || strings.Contains(c.jobs["zero"], "10.0.0.1") {
		t.Errorf("%v", c.jobs)
	}
}

// Inventories are bounded before they are read: by pod, by namespace, by size, and only of pods with a stream.
func TestInventoriesAreRefused(t *testing.T) {
	s, l := serve(t), &listener{block: make(chan struct{})}
	s.Listener = l
	if code := s.list(t, s.shard[0], 1); code != http.StatusConflict {
		t.Errorf("without a stream: %d", code)
	}
	if code := s.list(t, "wrong", 1); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", code)
	}
	s.open(t, s.shard[0])
	s.open(t, s.shard[1])
	code := make(chan int)
	go func() { code <- s.list(t, s.shard[0], 1) }()
	l.block <- struct{}{} // the inventory is being read
	next, other := s.inventories.enter("monitoring"), s.inventories.enter("demo")
	select {
	case <-next.ready:
		t.Error("two of a namespace are read at a time")
	case <-other.ready:
	}
	l.block <- struct{}{}
	if got := <-code; got != http.StatusNoContent {
		t.Errorf("%d", got)
	}
	<-next.ready
	s.inventories.leave(next)
	s.inventories.leave(other)
	close(l.block)
	if got := s.list(t, s.shard[1], 1); got != http.StatusNoContent {
		t.Errorf("another one after it: %d", got)
	}
	if code := s.list(t, s.shard[0], 1); code != http.StatusTooManyRequests {
		t.Errorf("again at once: %d", code)
	}
	send := func(body string, want int) {
		t.Helper()
		s.streams.listAgain("uid of monitoring/prometheus-k8s-0")
		if code := s.send(t, http.MethodPost, targetreport.InventoryPath, s.shard[0], strings.NewReader(body)).StatusCode; code != want {
			t.Errorf("%.20q: %d, want %d", body, code, want)
		}
	}
	send("no gzip", http.StatusBadRequest)
	send(strings.Repeat("x", targetreport.MaxInventory+1), http.StatusRequestEntityTooLarge)
	l.refuse = true
	s.streams.listAgain("uid of monitoring/prometheus-k8s-0")
	if code := s.list(t, s.shard[0], 1); code != http.StatusNoContent || l.done != 2 {
		t.Errorf("an inventory that is not needed: %d", code)
	}
}
