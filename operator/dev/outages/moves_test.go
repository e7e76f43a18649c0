package outages

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// moving is a test of moves.
type moving struct {
	setup
	// late is how much later than its interval a scrape may be.
	late time.Duration
	// patience is how long it may take until all targets are where they belong.
	patience time.Duration
	// shards are the numbers of shards, one after the other.
	shards []int
}

// weighted are the annotations of a Prometheus whose targets are placed by series.
var weighted = fmt.Sprintf("%s: central, %s: weighted", wellknown.AnnotationTargetDiscovery, wellknown.AnnotationSharding)

// While the number of shards changes, no target misses a scrape of any replica, and each ends on one shard.
func TestMoves(t *testing.T) {
	n, _ := seed(t)
	text := os.Getenv("FIREKEEPER_MOVES")
	if text == "" {
		t.Parallel() // it mostly waits
		w := newEnvironment(t, n, setup{mode: "central", annotations: weighted, interval: interval, applies: time.Second,
			numShards: 2, numReplicas: 1 + int(n%2), numTargets: 3})
		w.moves(moving{setup: w.setup, late: late, patience: 3 * time.Minute, shards: []int{3, 2}})
		return
	}
	targets := 300
	if text := os.Getenv("FIREKEEPER_MOVES_TARGETS"); text != "" {
		var err error
		targets, err = strconv.Atoi(text)
		must(t, err)
	}
	for one := range strings.SplitSeq(text, ",") {
		every, err := time.ParseDuration(one)
		must(t, err)
		for replicas := 1; replicas <= 2; replicas++ {
			t.Run(fmt.Sprintf("%s, %d replicas", every, replicas), func(t *testing.T) {
				w := newEnvironment(t, n, setup{mode: "central", annotations: weighted, interval: every, applies: 5 * time.Second,
					numShards: 2, numReplicas: replicas, numTargets: targets})
				w.moves(moving{setup: w.setup, late: time.Second, patience: time.Hour, shards: []int{3, 5, 3, 2}})
			})
		}
	}
}

// moves changes the number of shards, and checks the scrapes of all targets.
func (w *environment) moves(m moving) {
	w.t.Helper()
	began := time.Now()
	w.spread("at the start", m.patience)
	w.t.Logf("%d targets on %d shards in %s", len(w.targets), w.numShards, time.Since(began).Round(time.Second))
	for _, n := range m.shards {
		before, began := w.numShards, time.Now()
		w.scale(n, m.patience)
		when := fmt.Sprintf("from %d to %d shards", before, n)
		all := w.scraped(when, m.late)
		w.t.Logf("%s in %s: the longest gap so far is %s, %d moves, %d scrapes more", when, time.Since(began).Round(time.Second), all.worst.Round(time.Millisecond), all.moves, all.extra)
		if most := w.mostMoves(m.shards); all.moves > most {
			w.t.Errorf("%d moves, want at most %d", all.moves, most)
		}
	}
}

// scraped checks the scrapes of all targets by all replicas so far, and returns the longest gap and the sums.
func (w *environment) scraped(when string, late time.Duration) (all record) {
	w.t.Helper()
	for _, one := range w.targets {
		for replica := range w.numReplicas {
			r := recordOf(one.All(), replica, w.interval, time.Now())
			if r.worst > w.interval+late {
				w.t.Errorf("%s: replicas %d do not scrape %s for %s from %s on: %s", when, replica, one.Name, r.worst.Round(time.Millisecond), r.since.Format("15:04:05.000"), one.history())
			}
			all.moves, all.extra, all.worst = all.moves+r.moves, all.extra+r.extra, max(all.worst, r.worst)
		}
	}
	return all
}

// mostMoves returns the maximum number of moves for changes of the number of shards: the part of the shards that are
// added or removed, and a margin.
func (w *environment) mostMoves(shards []int) int {
	part, before := 0.0, 2
	for _, n := range shards {
		part += 1 - float64(min(before, n))/float64(max(before, n))
		before = n
	}
	return int(1.1*part*float64(len(w.targets)*w.numReplicas)) + 2*w.numReplicas
}

// history returns the last scrapes of a target, for errors.
func (s *target) history() string {
	var out strings.Builder
	all := s.All()
	for _, one := range all[max(0, len(all)-40):] {
		fmt.Fprintf(&out, " %s@%s", strings.TrimPrefix(one.By, "prometheus-main"), one.At.Format("05.000"))
	}
	return out.String()
}

// scale changes the number of shards. New pods run before or after the change. Those of other shards stop when they have
// no targets any more.
func (w *environment) scale(n int, patience time.Duration) {
	w.t.Helper()
	before := w.numShards
	w.numShards = n
	change := func() {
		w.kubectl("-n", "demo", "patch", w.resource(), "main", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"shards":%d}}`, n))
	}
	late := w.rand.IntN(2) == 0
	if !late {
		change()
	}
	for number := before; number < n; number++ {
		w.startReplicas(number)
	}
	if late {
		change()
	}
	if w.disturb != nil {
		w.disturb()
	}
	w.spread(fmt.Sprintf("from %d to %d shards", before, n), patience)
	w.shards = slices.DeleteFunc(w.shards, func(s *shard) bool {
		if s.number < n {
			return false
		}
		s.stop()
		return true
	})
}

// spread waits until each target is on one shard, with all of its replicas, and no shard has many more than another one.
func (w *environment) spread(when string, patience time.Duration) {
	w.t.Helper()
	within(w.t, patience, when, func() error {
		on := map[string]map[int]int{} // replicas by target and shard
		counts := make([]int, w.numShards)
		var errs []error
		for _, s := range w.shards {
			active, err := s.active()
			if err != nil {
				return err
			}
			if s.number >= w.numShards {
				if len(active) > 0 {
					return fmt.Errorf("%s still has %d targets", s.pod(), len(active))
				}
				continue
			}
			errs = append(errs, s.connected())
			counts[s.number] = len(active)
			for _, one := range active {
				if on[one] == nil {
					on[one] = map[int]int{}
				}
				on[one][s.number]++
			}
		}
		for _, one := range w.targets {
			shards := on[one.Address]
			if len(shards) != 1 {
				return fmt.Errorf("%s is on the shards %v", one.Name, shards)
			}
			for number, replicas := range shards {
				if replicas != w.numReplicas {
					return fmt.Errorf("%d replicas of shard %d scrape %s", replicas, number, one.Name)
				}
			}
		}
		mean := len(w.targets) / w.numShards
		if slices.Min(counts) < mean-mean/10 || slices.Max(counts) > mean+mean/10+1 {
			return fmt.Errorf("the shards have %v targets", counts)
		}
		return errors.Join(errs...)
	})
	w.followed()
}

// followed waits for two more scrapes of each target by each replica.
func (w *environment) followed() {
	w.t.Helper()
	since := time.Now()
	within(w.t, time.Minute+3*w.interval, "scrapes of all targets", func() error {
		for _, one := range w.targets {
			by := map[string]int{} // by the number of the replica
			for _, scrape := range one.All() {
				if scrape.At.After(since) {
					by[scrape.By[strings.LastIndex(scrape.By, "-")+1:]]++
				}
			}
			for replica := range w.numReplicas {
				if by[strconv.Itoa(replica)] < 2 {
					return fmt.Errorf("replicas %d do not scrape %s", replica, one.Name)
				}
			}
		}
		return nil
	})
}
