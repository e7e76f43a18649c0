package autoscale_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/targets/autoscale"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// simulation is a workload whose operator follows the discovery service after a minute, and whose last shards are drained within
// three minutes.
type simulation struct {
	*autoscale.Scaler
	limits autoscale.Limits
	now    time.Time
	shards int
	series uint64
	// estimated is the number of series that no pod has counted.
	estimated uint64
	fullest   uint64 // 0: the mean
	wanted    time.Time
	drain     time.Time
	log       []string
}

func newSimulation(shards int, series uint64) *simulation {
	return &simulation{
		Scaler: autoscale.New(scaling.Workload{}), now: noon, shards: shards, series: series,
		limits: autoscale.Limits{Limits: scaling.Limits{Floor: 2, Max: 10, SeriesPerShard: 1000}, Retained: true},
	}
}

// pass advances the time in steps of ten seconds.
func (w *simulation) pass(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); w.now = w.now.Add(10 * time.Second) {
		w.shards = max(w.shards, w.limits.Floor)
		used := w.shards
		if placed := w.Placed(w.shards); placed == w.shards {
			w.drain = w.now
		} else if w.now.Sub(w.drain) >= 3*time.Minute {
			used = placed
		}
		load := autoscale.Load{Shards: w.shards, Series: w.series + w.estimated, Measured: w.series, Fullest: w.series / uint64(w.Placed(w.shards)), Used: used}
		if w.fullest > 0 {
			load.Fullest = w.fullest
		}
		if step := w.Step(w.now, w.limits, load); step != nil {
			w.log = append(w.log, fmt.Sprintf("%s %d→%d", w.now.Sub(noon), step.From, step.To))
		}
		switch state := w.State(); {
		case state.Shards == w.shards:
			w.wanted = w.now
		case w.now.Sub(w.wanted) >= time.Minute:
			w.shards = w.limits.Clamp(state.Shards, w.shards)
		}
	}
}

func (w *simulation) want(t *testing.T, shards int, log ...string) {
	t.Helper()
	if w.shards != shards {
		t.Errorf("%d shards, not %d", w.shards, shards)
	}
	if diff := cmp.Diff(strings.Join(log, "\n"), strings.Join(w.log, "\n")); diff != "" {
		t.Error(diff)
	}
	w.log = nil
}

// The number of shards follows the series: soon and by a quarter upwards, slowly and one by one downwards.
func TestFollowsSeries(t *testing.T) {
	w := newSimulation(2, 1500)
	w.pass(3 * time.Hour)
	w.want(t, 2)
	w.series = 6000
	w.pass(time.Hour)
	w.want(t, 7, "3h5m0s 2→3", "3h15m0s 3→4", "3h25m0s 4→5", "3h35m0s 5→6", "3h45m0s 6→7")
	w.series = 1500
	w.pass(12 * time.Hour)
	w.want(t, 3, "5h0m0s 7→6", "7h0m0s 6→5", "9h0m0s 5→4", "11h0m0s 4→3")
	w.series = 1300
	w.pass(2 * time.Hour)
	w.want(t, 2, "17h0m0s 3→2")
}

// With a speed, steps come sooner, and the last shard is drained for as long as usual.
func TestSpeed(t *testing.T) {
	w := newSimulation(2, 1500)
	w.limits.Speed = 10
	w.pass(time.Hour)
	w.want(t, 2)
	w.series = 3500
	w.pass(10 * time.Minute)
	w.want(t, 4, "1h0m30s 2→3", "1h2m0s 3→4")
	w.series = 1000
	w.pass(30 * time.Minute)
	w.want(t, 2, "1h16m0s 4→3", "1h28m0s 3→2")
}

// Estimated series keep shards but do not add any.
func TestEstimatedSeries(t *testing.T) {
	w := newSimulation(4, 1000)
	for _, w.estimated = range []uint64{9000, 1010} { // enough for more shards, but too uncertain for fewer
		w.pass(5 * time.Hour)
		w.want(t, 4)
	}
	w.estimated = 0
	w.pass(10 * time.Hour)
	w.want(t, 2, "11h0m0s 4→3", "13h0m0s 3→2")
}

// Large workloads grow by a quarter in one step.
func TestGrowsByAQuarter(t *testing.T) {
	w := newSimulation(40, 40*890)
	w.limits.Max = 100
	w.pass(time.Hour)
	w.want(t, 40)
	w.series *= 4
	w.pass(time.Hour)
	w.want(t, 100, "1h5m0s 40→50", "1h15m0s 50→62", "1h25m0s 62→77", "1h35m0s 77→96", "1h45m0s 96→100")
	if held := w.State().Held; held == nil || held.Reason != scaling.AtMaxShards || !strings.Contains(held.Message, "142400 series on 100 shards") {
		t.Errorf("%+v", held)
	}
}

// Short peaks and gaps change nothing.
func TestPeaksChangeNothing(t *testing.T) {
	w := newSimulation(3, 2000)
	for range 100 {
		w.series = 9000
		w.pass(4 * time.Minute)
		w.series = 2000
		w.pass(time.Minute)
		w.series = 100
		w.pass(50 * time.Minute)
		w.series = 2000
		w.pass(time.Minute)
	}
	w.want(t, 3)
}

// A shard that has too many series adds shards, but only as long as they can help.
func TestFullestShard(t *testing.T) {
	w := newSimulation(3, 2400)
	w.fullest = 1200
	w.pass(5 * time.Hour)
	w.want(t, 4, "5m0s 3→4")
	w = newSimulation(3, 1500)
	w.fullest = 1200
	w.pass(5 * time.Hour)
	w.want(t, 3)
}

// Servers whose data would be lost are not removed, and the reason is reported.
func TestNotRetained(t *testing.T) {
	w := newSimulation(5, 500)
	w.limits.Retained = false
	w.pass(5 * time.Hour)
	w.want(t, 5)
	if held := w.State().Held; held == nil || held.Reason != scaling.NotRetained || !held.Since.Equal(noon.Add(time.Hour)) || !strings.Contains(held.Message, "fewer shards are enough: 500 series on 5 shards") {
		t.Errorf("%+v", held)
	}
	w.limits.Retained = true
	w.pass(10 * time.Second)
	w.want(t, 5, "5h0m0s 5→4")
	if s := w.State(); s.Held != nil {
		t.Errorf("%+v", s)
	}
}

// A drain ends when the shard is needed again, also when the operator has read the decision.
func TestDrainEnds(t *testing.T) {
	for _, after := range []time.Duration{time.Minute, 4*time.Minute + 30*time.Second} {
		w := newSimulation(3, 1300)
		w.pass(time.Hour + after)
		w.want(t, 3, "1h0m0s 3→2")
		w.series = 1900
		w.pass(30 * time.Second)
		w.want(t, 3, fmt.Sprintf("%s 2→3", time.Hour+after))
		w.pass(time.Hour)
		w.want(t, 3)
	}
}

// The operator keeps a shard until it has been without targets for a minute.
func TestKeepsUntilDrained(t *testing.T) {
	s := autoscale.New(scaling.Workload{Shards: 3, Target: 2})
	limits := newSimulation(0, 0).limits
	for _, at := range []struct {
		after time.Duration
		used  int
		want  int
	}{{0, 3, 3}, {time.Hour, 3, 3}, {time.Hour + time.Second, 2, 3}, {time.Hour + 59*time.Second, 2, 3}, {time.Hour + 61*time.Second, 2, 2}} {
		s.Step(noon.Add(at.after), limits, autoscale.Load{Shards: 3, Series: 1000, Measured: 1000, Used: at.used})
		if got := s.State().Shards; got != at.want {
			t.Errorf("%v: %d", at, got)
		}
	}
}

// An agent is removed when it has sent all samples, reported a minute after it was drained or later, or after ten
// minutes.
func TestAgentsSendBeforeTheyGo(t *testing.T) {
	for name, c := range map[string]struct {
		unsent  uint64
		said    time.Duration // 0: never
		keptFor time.Duration
	}{
		"sent":             {0, 90 * time.Second, 100 * time.Second},
		"said too early":   {0, 30 * time.Second, 10 * time.Minute},
		"unsent":           {5, 5 * time.Minute, 10 * time.Minute},
		"it does not say":  {0, 0, 10 * time.Minute},
		"said much later":  {0, 6 * time.Minute, 370 * time.Second},
		"unsent and early": {1, time.Second, 10 * time.Minute},
	} {
		limits := newSimulation(0, 0).limits
		limits.Sends, limits.Retained = true, false
		s := autoscale.New(scaling.Workload{Shards: 3, Target: 2})
		for after := time.Duration(0); after <= 12*time.Minute; after += 10 * time.Second {
			load := autoscale.Load{Shards: 3, Series: 1000, Measured: 1000, Used: 2, Unsent: c.unsent}
			if c.said > 0 && after > c.said {
				load.UnsentAt = noon.Add(c.said)
			}
			s.Step(noon.Add(after), limits, load)
			want := 3
			if after >= c.keptFor {
				want = 2
			}
			if got := s.State().Shards; got != want {
				t.Errorf("%s: %d shards after %s", name, got, after)
			}
		}
	}
}

// A shard whose removal was decided stays removed while the load is unknown in between, unless it is needed again.
func TestRemovalIsFinal(t *testing.T) {
	limits, load := newSimulation(0, 0).limits, autoscale.Load{Shards: 3, Series: 1000, Measured: 1000, Used: 2}
	s := autoscale.New(scaling.Workload{Shards: 3, Target: 2})
	s.Step(noon, limits, load)
	s.Step(noon.Add(time.Minute), limits, load)
	for after := range 5 {
		s.Unknown()
		s.Step(noon.Add(time.Minute+time.Duration(after)*time.Second), limits, load)
		if got := s.State().Shards; got != 2 {
			t.Errorf("%d shards", got)
		}
	}
	limits.Retained = false // before the operator removes it
	if step := s.Step(noon.Add(2*time.Minute), limits, load); step == nil || s.State().Shards != 3 || s.State().Target != 3 {
		t.Errorf("%+v", s.State())
	}
}

// While a shard starts, no other one is added.
func TestStartingShards(t *testing.T) {
	s, limits := autoscale.New(scaling.Workload{}), newSimulation(0, 0).limits
	load := autoscale.Load{Shards: 3, Series: 9000, Measured: 9000, Used: 3, Starting: true}
	for after := time.Duration(0); after < time.Hour; after += 10 * time.Second {
		if step := s.Step(noon.Add(after), limits, load); step != nil {
			t.Fatalf("after %s: %+v", after, step)
		}
	}
	load.Starting = false
	s.Step(noon.Add(time.Hour), limits, load)
	if step := s.Step(noon.Add(time.Hour+5*time.Minute), limits, load); step == nil || step.To != 4 {
		t.Errorf("%+v", step)
	}
}

// Changes by users have an effect immediately, except a lower limit, for which shards are drained first.
func TestUsersChange(t *testing.T) {
	w := newSimulation(2, 1000)
	w.pass(time.Minute)
	w.limits.Floor = 6
	w.pass(time.Minute)
	w.want(t, 6, "1m0s 2→6")
	w.limits.Floor = 5
	w.pass(3 * time.Hour)
	w.want(t, 5, "1h2m0s 6→5")
	w.limits.Floor, w.limits.Max = 2, 4
	w.series = 4000
	w.pass(3 * time.Hour)
	w.want(t, 4, "3h7m0s 5→4")
	w.pass(10 * time.Hour)
	w.want(t, 4)
	// A limit that is lowered while the operator did not follow yet.
	w = newSimulation(3, 3000)
	w.pass(5*time.Minute + 10*time.Second)
	w.want(t, 3, "5m0s 3→4")
	w.limits.Max = 3
	w.pass(time.Hour)
	w.want(t, 3, "5m10s 4→3")
}

// A new leader continues from the last decision, with the same pauses between steps.
func TestNewLeader(t *testing.T) {
	w := newSimulation(4, 1000)
	w.pass(time.Hour + time.Minute)
	w.want(t, 4, "1h0m0s 4→3")
	for range 5 {
		w.Scaler = autoscale.New(w.State())
		w.pass(15 * time.Minute)
	}
	w.want(t, 3)
	w.pass(time.Hour)
	w.want(t, 2, "3h1m0s 3→2")
}

// Steps of a clock that was ahead do not end the changes forever.
func TestStepsInTheFuture(t *testing.T) {
	w := newSimulation(2, 5000)
	w.Scaler = autoscale.New(scaling.Workload{Target: 2, Steps: []scaling.Step{{At: noon.Add(1000 * time.Hour), From: 1, To: 2}}})
	w.pass(time.Hour)
	w.want(t, 2) // otherwise the clock would first have to reach that time
}

// While the load is unknown, there are no decisions.
func TestUnknown(t *testing.T) {
	w := newSimulation(2, 5000)
	for range 20 {
		w.pass(4 * time.Minute)
		w.Unknown()
	}
	w.want(t, 2)
}

// With zones, each zone has the same number of shards.
func TestZones(t *testing.T) {
	w := newSimulation(3, 6000)
	w.limits.Zones, w.limits.Floor = 3, 3
	w.pass(time.Hour)
	w.want(t, 9, "5m0s 3→6", "15m0s 6→9")
	w.series = 100
	w.pass(10 * time.Hour)
	w.want(t, 3, "2h0m0s 9→6", "4h0m0s 6→3")
}

// For any series, the number stays within the limits, changes at the allowed pace, and is constant when the series are.
func TestAlwaysWithinLimits(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newSimulation(1+random.IntN(12), 0)
		w.limits.Floor = 1 + random.IntN(4)
		w.limits.Max = w.limits.Floor + random.IntN(8)
		w.limits.Retained = random.IntN(4) > 0
		w.limits.Zones = random.IntN(3)
		for range 20 {
			w.series = random.Uint64N(15_000)
			w.fullest = uint64(random.IntN(3)) * 1000
			w.pass(time.Duration(1+random.IntN(180)) * time.Minute)
			if w.State().Target < w.limits.Floor {
				t.Fatalf("seed %d: %+v", seed, w.State())
			}
		}
		var up, down time.Time
		for _, s := range w.State().Steps {
			if s.To > s.From && s.At.Sub(up) < 10*time.Minute && !strings.HasPrefix(s.Why, "shards that were drained") || s.To < s.From && s.At.Sub(down) < 2*time.Hour && s.Why != wellknown.AnnotationMaxShards {
				t.Errorf("seed %d: %v", seed, w.log)
			}
			if s.To > s.From {
				up = s.At
			} else {
				down = s.At
			}
		}
		w.pass(40 * time.Hour)
		w.log = nil
		if w.pass(20 * time.Hour); len(w.log) > 0 {
			t.Errorf("seed %d: it never rests: %v", seed, w.log)
		}
		if state := w.State(); w.shards > w.limits.Max && w.shards-max(1, w.limits.Zones) >= w.limits.Floor && state.Held == nil {
			t.Errorf("seed %d: %d shards, %+v", seed, w.shards, state)
		}
	}
}
