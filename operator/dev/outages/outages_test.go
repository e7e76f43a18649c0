package outages

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/operator/web/central"
)

func TestMain(m *testing.M) {
	code := clustertest.Main(m)
	if bin != "" {
		_ = os.RemoveAll(bin) // it is temporary
	}
	os.Exit(code)
}

// outage is something that fails and comes back.
type outage struct {
	name string
	run  func(w *environment, down time.Duration)
}

var outages = []outage{
	{"the leader", func(w *environment, down time.Duration) {
		leader, _ := w.leader()
		leader.Kill()
		time.Sleep(down)
		leader.Start(w.t)
	}},
	{"the standby", func(w *environment, down time.Duration) {
		standby := w.standby()
		standby.Kill()
		time.Sleep(down)
		standby.Start(w.t)
	}},
	{"config-reloader", func(w *environment, down time.Duration) {
		s := w.shards[w.rand.IntN(len(w.shards))]
		s.reloader.Kill()
		s.leader, s.sequence = 0, 0 // it continues with the list on disk
		time.Sleep(down)
		s.reloader.Start(s.w.t)
	}},
	{"Prometheus", func(w *environment, down time.Duration) { w.shards[w.rand.IntN(len(w.shards))].killPrometheus(down) }},
	{"the API server", func(w *environment, _ time.Duration) { must(w.t, w.cluster.RestartAPIServer(w.t.Context())) }},
}

// steps are the modes of a migration there and back.
var steps = []string{"both", "central", "both", "own"}

// run makes a step, and an outage in the middle of it.
func (w *environment) run(mode string, o outage) {
	w.t.Helper()
	when := fmt.Sprintf("%s dies on the way from %s to %s", o.name, w.mode, mode)
	before, down := time.Duration(w.rand.IntN(3000))*time.Millisecond, time.Duration(w.rand.IntN(4000))*time.Millisecond
	began := time.Now()
	w.step(mode)
	time.Sleep(before)
	o.run(w, down)
	for _, r := range w.replicas {
		w.ready(r)
	}
	w.settled(when)
	w.changes("when " + when)
	w.check()
	w.t.Logf("%s: killed after %s, away for %s, all in %s", when, before, down, time.Since(began).Round(time.Second))
}

// seed returns the seed of random choices; all is whether to try everything: "7", "all", "all:7".
func seed(t *testing.T) (seed uint64, all bool) {
	text := os.Getenv("FIREKEEPER_OUTAGES")
	if text == "" {
		return 1, false
	}
	rest, all := strings.CutPrefix(text, "all")
	if rest = strings.TrimPrefix(rest, ":"); rest == "" {
		return 1, all
	}
	n, err := strconv.ParseUint(rest, 10, 64)
	if err != nil {
		t.Fatalf("FIREKEEPER_OUTAGES=%s: want a number, all, or all:NUMBER", text)
	}
	return n, all
}

// Whatever dies in whatever step of a migration, no target misses a scrape but those of a server that restarts, each
// is on one shard, and later changes arrive.
func TestOutages(t *testing.T) {
	n, all := seed(t)
	if !all {
		t.Parallel() // it mostly waits
	}
	w := newEnvironment(t, n, apart)
	w.settled("at the start")
	rounds := [][]outage{nil}
	if all {
		rounds = rounds[:0]
		for i := range outages {
			rounds = append(rounds, slices.Concat(outages[i:], outages[:i]))
		}
	} else {
		for _, i := range w.rand.Perm(len(outages)) {
			rounds[0] = append(rounds[0], outages[i])
		}
	}
	for _, round := range rounds {
		for i, mode := range steps {
			w.run(mode, round[i])
		}
	}
	worst := time.Duration(0)
	for _, one := range w.targets {
		worst = max(worst, one.worst())
	}
	t.Logf("%d targets, the longest gap is %s", len(w.targets), worst.Round(time.Millisecond))
}

// The table of failures: what happens to targets when parts of central discovery are away for longer.
func TestFailures(t *testing.T) {
	n, all := seed(t)
	if !all {
		t.Skip("takes minutes; FIREKEEPER_OUTAGES=all runs it")
	}
	w := newEnvironment(t, n, apart)
	w.settled("at the start")
	w.step("both")
	w.settled("in mode both")
	w.step("central")
	w.settled("in mode central")
	w.compared()
	for _, c := range []struct {
		name string
		run  func(*environment)
	}{
		{"the service is away", (*environment).noService},
		{"the network to one pod is cut", (*environment).split},
		{"a pod restarts without the service", (*environment).podRestarts},
		{"the API server is away when the service starts", (*environment).noAPIServer},
		{"two leaders", (*environment).twoLeaders},
		{"all pods start at once", (*environment).allRestart},
	} {
		c.run(w)
		for _, r := range w.replicas {
			w.ready(r)
		}
		w.changes("when " + c.name)
		w.check()
		w.compared()
		t.Log(c.name)
	}
	w.step("both")
	w.settled("in mode both")
	w.compared()
	w.step("own")
	w.settled("in mode own")
	w.check()
}

// compared waits until the reports say that each server has its list, and scrapes it.
func (w *environment) compared() {
	w.t.Helper()
	within(w.t, 3*time.Minute, "reports about all targets", func() error {
		_, status := w.leader()
		n := 0
		for _, one := range status.Workloads {
			for _, list := range one.Shards {
				for _, pod := range list.Streams {
					r := pod.Report
					if r == nil || r.Version != list.Version || r.Compared != 1 || r.Served != list.Targets || r.Active != list.Targets || len(r.Jobs) > 0 {
						return fmt.Errorf("%s reports %+v, version is %s with %d targets", pod.Pod, r, list.Version, list.Targets)
					}
					n++
				}
			}
		}
		if n != len(w.shards) {
			return fmt.Errorf("%d pods report", n)
		}
		return nil
	})
}

// lists returns what each pod serves to its Prometheus.
func (w *environment) lists() (out []string) {
	w.t.Helper()
	for _, s := range w.shards {
		text, err := s.listed()
		must(w.t, err)
		out = append(out, text)
	}
	return out
}

// kept waits for scrapes of each target, and checks that the lists stay.
func (w *environment) kept(lists []string, scrapes int) {
	w.t.Helper()
	since := time.Now()
	within(w.t, time.Minute, "scrapes with the last list", func() error {
		if now := w.lists(); !slices.Equal(lists, now) {
			w.t.Fatalf("the lists changed from %v to %v", lists, now)
		}
		for _, one := range w.targets {
			if one.until.IsZero() && one.after(since) < scrapes {
				return fmt.Errorf("%s was scraped %d times", one.Name, one.after(since))
			}
		}
		return nil
	})
}

// noService: scraping continues with the last list, and new targets wait.
func (w *environment) noService() {
	lists := w.lists()
	for _, r := range w.replicas {
		r.Kill()
	}
	added := newTarget(w.t)
	w.kept(lists, 5)
	if added.after(time.Time{}) > 0 {
		w.t.Error("a target that nobody knows is scraped")
	}
}

// split: one pod keeps its list, the other one gets changes.
func (w *environment) split() {
	lonely, other := w.shards[0], w.shards[1]
	lonely.balancer.Cut(true)
	list, err := lonely.listed()
	must(w.t, err)
	before := other.sequence
	for other.sequence == before { // until a new target belongs to the other one
		w.grow()
		within(w.t, time.Minute, "the list of the pod that is connected", func() error { return other.connected() })
		time.Sleep(time.Second)
		must(w.t, other.connected())
	}
	if now, err := lonely.listed(); err != nil || now != list {
		w.t.Errorf("the list without a network is %s, %v", now, err)
	}
	lonely.balancer.Cut(false)
	w.settled("after the network is back")
}

// podRestarts: a pod that restarts without the service scrapes what is on its disk.
func (w *environment) podRestarts() {
	for _, r := range w.replicas {
		r.Kill()
	}
	lists := w.lists()
	s := w.shards[w.rand.IntN(2)]
	s.killPrometheus(time.Second, &s.reloader)
	within(w.t, time.Minute, "the targets of the list on disk", w.owned)
	w.kept(lists, 2)
}

// noAPIServer: replicas that start without the API server serve nothing, and lists stay until they know all targets.
func (w *environment) noAPIServer() {
	lists := w.lists()
	for _, r := range w.replicas {
		r.Kill()
	}
	pid := w.cluster.Processes()["kube-apiserver"]
	must(w.t, syscall.Kill(pid, syscall.SIGSTOP))
	for _, r := range w.replicas {
		r.Start(w.t)
	}
	w.kept(lists, 4)
	must(w.t, syscall.Kill(pid, syscall.SIGCONT))
}

// twoLeaders: a leader that was stopped for longer than its Lease continues when another one leads. Pods never go back
// to its lists.
func (w *environment) twoLeaders() {
	old, _ := w.leader()
	old.Signal(w.t, syscall.SIGSTOP)
	within(w.t, time.Minute, "the next leader", func() error {
		for _, r := range w.replicas {
			if r == old {
				continue
			}
			w.ready(r)
			var status central.Status
			if err := r.get("/status.json", &status); err == nil && status.Leads {
				return nil
			}
		}
		return errors.New("none")
	})
	w.settled("with the next leader")
	old.Signal(w.t, syscall.SIGCONT)
	w.settled("with a leader that is back")
}

// allRestart: everything restarts at once, but for the API server.
func (w *environment) allRestart() {
	for _, r := range w.replicas {
		r.Kill()
	}
	for _, s := range w.shards {
		s.killPrometheus(0, &s.reloader)
	}
	for _, r := range w.replicas {
		r.Start(w.t)
	}
}
