package outages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/scene/scenetest"
)

// Whatever dies while targets move between shards, no target misses a scrape but those of a server that is down, and each
// ends on one shard.
func TestMovesUnderKills(t *testing.T) {
	n, all := seed(t)
	shards, kills := []int{3, 2}, 2
	if all {
		shards, kills = []int{3, 5, 3, 2, 4, 2}, len(outages)
	} else {
		t.Parallel() // it mostly waits
	}
	w := newEnvironment(t, n, setup{mode: "central", annotations: weighted, interval: interval, applies: time.Second, numShards: 2, numReplicas: 1, numTargets: 8})
	const patience = 10 * time.Minute
	w.spread("at the start", patience)
	for _, number := range shards {
		var dead []string
		w.disturb = func() {
			for _, i := range w.rand.Perm(len(outages))[:kills] {
				before, down := time.Duration(w.rand.IntN(3000))*time.Millisecond, time.Duration(w.rand.IntN(4000))*time.Millisecond
				time.Sleep(before)
				outages[i].run(w, down)
				dead = append(dead, fmt.Sprintf("%s after %s for %s", outages[i].name, before, down))
			}
		}
		when, began := fmt.Sprintf("from %d to %d shards", w.numShards, number), time.Now()
		w.scale(number, patience)
		for _, r := range w.replicas {
			w.ready(r)
		}
		w.unbroken(when)
		t.Logf("%s in %s, killed: %s", when, time.Since(began).Round(time.Second), strings.Join(dead, ", "))
	}
}

// unbroken checks the scrapes of all targets so far.
func (w *environment) unbroken(when string) {
	w.t.Helper()
	for _, one := range w.targets {
		for replica := range w.numReplicas {
			for _, text := range breaks(one.All(), replica, w.interval, w.killed, time.Now()) {
				w.t.Errorf("%s: %s %s: %s", when, one.Name, text, one.history())
			}
		}
	}
}

// breaks returns the gaps in the scrapes of a target by replicas with a number, except those in which the server that made
// the last scrape was down.
func breaks(all []scenetest.Scrape, replica int, interval time.Duration, killed map[string][]span, until time.Time) (out []string) {
	all = byReplica(all, replica, until)
	if len(all) == 0 {
		return []string{"was never scraped"}
	}
	for i, one := range all {
		next, allowed := until, interval+late
		if i+1 < len(all) {
			next = all[i+1].At
		}
		for _, down := range killed[one.By] {
			if one.At.Before(down.to.Add(restart)) && next.After(down.from) {
				allowed += down.to.Sub(down.from) + restart
			}
		}
		if gap := next.Sub(one.At); gap > allowed {
			out = append(out, fmt.Sprintf("was not scraped for %s from %s on, allowed are %s", gap.Round(time.Millisecond), one.At.Format("15:04:05.000"), allowed))
		}
	}
	return out
}

// Gaps count, but not those of a server that is down.
func TestBreaks(t *testing.T) {
	killed := map[string][]span{"a-0": {{time.Unix(10, 0), time.Unix(20, 0)}}}
	for text, want := range map[string]int{
		"a-0@0 a-0@3 b-0@6 b-0@9": 0,
		"a-0@0 b-0@7 b-0@9":       1, // before it was down
		"a-0@9 a-0@38":            0,
		"a-0@9 b-0@45":            1,
		"b-0@9 a-0@21":            1, // another server
		"a-1@0":                   1,
	} {
		all := scrapesOf(t, text)
		last := all[len(all)-1].At
		if got := breaks(all, 0, 3*time.Second, killed, last); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}
