package central

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/autoscale"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
)

const mainName = "Prometheus/monitoring/main"

// decisions are stored decisions. fails is the error of all calls, edited that of reads until the next write.
type decisions struct {
	mu            sync.Mutex
	all           scaling.Document
	writes        int
	fails, edited error
}

func (d *decisions) Read(context.Context) (scaling.Document, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.edited != nil {
		return nil, d.edited
	}
	return maps.Clone(d.all), d.fails
}

func (d *decisions) Write(_ context.Context, all scaling.Document) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails == nil {
		d.all, d.writes, d.edited = all, d.writes+1, nil
	}
	return d.fails
}

func (d *decisions) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = err
}

func (d *decisions) main() scaling.Workload {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all[mainName]
}

// scaled is a workload whose number of shards follows its series, as the operator makes it.
type scaled struct {
	*fixture
	decisions
	text   []string // replacements in the text of the workload
	shards int
}

// object returns the workload as the operator leaves it.
func (s *scaled) object(t *testing.T) *v1.Prometheus {
	t.Helper()
	p := read[v1.Prometheus](t, strings.NewReplacer(s.text...).Replace(weightedText))
	limits, ok := prometheus.ScalingLimits(p)
	if !ok {
		t.Fatal("no autoscaling")
	}
	wanted := s.shards
	if all, err := s.Read(t.Context()); err == nil && all[mainName].Shards > 0 {
		wanted = all[mainName].Shards
	}
	p.Status.Shards = int32(limits.Clamp(wanted, s.shards))
	return p
}

// operate simulates the operator: it starts and keeps the pods for the decided number of shards, and reports it.
func (s *scaled) operate(t *testing.T) {
	t.Helper()
	p := s.object(t)
	if s.shards == int(p.Status.Shards) {
		return
	}
	s.shards = int(p.Status.Shards)
	s.objects.set(catalog.Prometheus.GroupVersionResource(), p)
	for shard := range s.shards {
		for _, name := range setsOf(shard) {
			if !slices.Contains(s.pods.all(), name) {
				s.pods.start(name)
			}
		}
	}
}

// pass advances the time, while the operator reads the decision every minute. At most two shards scrape a target at a
// time.
func (s *scaled) pass(t *testing.T, d time.Duration) {
	t.Helper()
	for range int(d / time.Minute) {
		s.pods.pass(time.Minute)
		s.operate(t)
		for address, on := range s.pods.on() {
			if len(on) > 2 {
				t.Errorf("%s is on %v", address, on)
			}
		}
	}
}

// runScaled runs a test with shards that should have at most 30,000 series each; all targets together have 46,860.
func runScaled(t *testing.T, shards int, before scaling.Document, test func(t *testing.T, s *scaled), change ...string) {
	t.Helper()
	s := &scaled{shards: shards, decisions: decisions{all: before}, text: append(change,
		"sharding: weighted", `sharding: weighted, firekeeper.dev/max-shards: "6", firekeeper.dev/series-per-shard: "30000"`,
		"replicas: 2,", "replicas: 2, shardRetentionPolicy: {whenScaled: Retain},")}
	inBubble(t, func(b *fixture) {
		b.addPods(120, "demo", "other")
		b.objects.set(catalog.Prometheus.GroupVersionResource(), s.object(t))
		b.pods.b, b.pods.of, b.pods.was, b.pods.times = b, map[string]*server{}, map[string]bool{}, 1
		b.Decisions, s.fixture = s, b
	}, func(t *testing.T, b *fixture) {
		b.pods.t = t
		for shard := range shards {
			b.pods.start(setsOf(shard)...)
		}
		defer func() { b.pods.end(b.pods.all()...) }()
		test(t, s)
	})
}

// want checks the number of shards, and that each target is scraped by exactly one of them.
func (s *scaled) want(t *testing.T, shards int) {
	t.Helper()
	if s.shards != shards {
		t.Errorf("%d shards, not %d: %+v", s.shards, shards, s.main())
	}
	s.pods.single(120)
	used := map[string]bool{}
	for _, on := range s.pods.on() {
		used[on[0]] = true
	}
	if len(used) != shards {
		t.Errorf("targets are on %v", used)
	}
}

// With more series, there are more shards, up to the limit, and no target misses a scrape.
func TestScaleUp(t *testing.T) {
	runScaled(t, 2, nil, func(t *testing.T, s *scaled) {
		s.pass(t, 20*time.Minute)
		s.want(t, 2)
		if n := s.writes; n != 1 {
			t.Errorf("%d writes", n)
		}
		s.pods.times = 4
		s.pass(t, 30*time.Minute)
		if n := len(s.main().Steps); n == 0 {
			t.Errorf("after half an hour: %+v", s.main())
		}
		s.pass(t, 2*time.Hour)
		s.want(t, 6)
		if held := s.main().Held; held == nil || held.Reason != scaling.AtMaxShards {
			t.Errorf("%+v", s.main())
		}
		page := s.statusOf(s.server).table(time.Now())
		for _, text := range []string{"Prometheus monitoring/main: should have 6 shards", "AtMaxShards since", ": 2 → 3 shards: more shards are needed: "} {
			if !strings.Contains(page, text) {
				t.Errorf("%q is not in:\n%s", text, page)
			}
		}
		if events := strings.Join(s.sent(), "\n"); !strings.Contains(events, "Normal ShardsScaled 2 → 3 shards: more shards are needed") {
			t.Error(events)
		}
	})
}

// With fewer series, the last shard loses its targets before it is removed, and keeps its pods until then.
func TestScaleDown(t *testing.T) {
	runScaled(t, 4, nil, func(t *testing.T, s *scaled) {
		for range 75 {
			if s.pass(t, time.Minute); s.main().Target == 3 {
				break
			}
		}
		if now := s.main(); now.Target != 3 || now.Shards != 4 || s.shards != 4 {
			t.Errorf("%d shards, %+v", s.shards, now)
		}
		s.pass(t, 30*time.Minute)
		s.want(t, 3)
		if jobs := s.pods.of["prometheus-main-shard-3-0"].list; len(jobs[webJob]) > 0 {
			t.Errorf("the shard that was removed has %v", jobs)
		}
	})
}

// When the series grow by a factor of four and shrink again, the number of shards follows, up to the limit and down to
// the sufficient number. Each target stays scraped, also while it moves off a shard that is removed.
func TestLoadUpAndDown(t *testing.T) {
	if os.Getenv("FIREKEEPER_LOAD") == "" {
		t.Skip("twelve simulated hours take a minute: FIREKEEPER_LOAD=1")
	}
	runScaled(t, 2, nil, func(t *testing.T, s *scaled) {
		s.pass(t, 20*time.Minute)
		s.want(t, 2)
		s.pods.times = 4
		s.pass(t, 150*time.Minute)
		s.want(t, 6)
		s.pods.times = 1
		s.pass(t, 9*time.Hour)
		s.want(t, 3) // two would have more than 70 % of their maximum
		for _, name := range setsOf(3, 4, 5) {
			if jobs := s.pods.of[name].list; len(jobs[webJob]) > 0 {
				t.Errorf("%s was removed with %v", name, jobs)
			}
		}
	})
}

// Without a policy that keeps the data, no shard is removed.
func TestNoScaleDown(t *testing.T) {
	runScaled(t, 4, nil, func(t *testing.T, s *scaled) {
		s.pass(t, 90*time.Minute)
		s.want(t, 4)
		if held := s.main().Held; held == nil || held.Reason != scaling.NotRetained {
			t.Errorf("%+v", s.main())
		}
	}, "whenScaled: Retain", "whenScaled: Delete", "replicas: 2,", "replicas: 2,")
}

// A new leader continues to drain a shard, and does not fill it again while it cannot read that it is to be drained.
func TestScalingLeaders(t *testing.T) {
	draining := scaling.Document{mainName: {Shards: 4, Target: 3}, "Prometheus/gone/gone": {Shards: 7}}
	runScaled(t, 4, draining, func(t *testing.T, s *scaled) {
		s.fail(errors.New("etcd is away"))
		s.pass(t, time.Minute)
		if on := s.pods.on(); len(on) > 0 {
			t.Errorf("targets are placed before the decisions were read: %v", on)
		}
		s.fail(nil)
		s.pass(t, 10*time.Minute)
		s.want(t, 3)
		if _, has := s.all["Prometheus/gone/gone"]; has {
			t.Error("decisions about a deleted workload stay")
		}
		s.server.Feed.Lead(0)
		s.pass(t, time.Minute)
		s.server.Feed.Lead(4)
		s.pass(t, 10*time.Minute)
		s.want(t, 3)
	})
}

// If the decisions can never be read, targets are placed anyway, and the number of shards does not change.
func TestDecisionsForbidden(t *testing.T) {
	runScaled(t, 4, nil, func(t *testing.T, s *scaled) {
		s.fail(errors.New("forbidden"))
		s.pass(t, 75*time.Minute)
		s.want(t, 4)
	})
}

// Numbers that another client writes are replaced. A number that could not be stored is not reported.
func TestDecisionsOfOthers(t *testing.T) {
	runScaled(t, 2, nil, func(t *testing.T, s *scaled) {
		s.pass(t, 10*time.Minute)
		s.mu.Lock()
		s.all = scaling.Document{mainName: {Shards: 6, Target: 6}}
		s.mu.Unlock()
		s.pods.pass(90 * time.Second)
		if now := s.main(); now.Shards != 2 {
			t.Errorf("%+v", now)
		}
		s.sent()
		s.pods.times = 4
		s.fail(errors.New("forbidden"))
		s.pods.pass(30 * time.Minute)
		if events := s.sent(); len(events) > 0 {
			t.Error(events)
		}
		s.fail(nil)
		s.pods.pass(10 * time.Minute)
		if events := s.sent(); len(events) != 1 {
			t.Error(events)
		}
	})
}

// An invalid document is replaced, by the leader that has written it and by a new one. No workload loses shards.
func TestDecisionsEdited(t *testing.T) {
	runScaled(t, 4, scaling.Document{mainName: {Shards: 4, Target: 4}}, func(t *testing.T, s *scaled) {
		for _, step := range []struct {
			lead func()
			says string
		}{
			{func() {}, "another client has changed the numbers of shards, they are rewritten"},
			{func() { s.server.Feed.Lead(9) }, "the stored numbers of shards are replaced, all workloads keep the shards that they have"},
		} {
			s.pass(t, 10*time.Minute)
			s.mu.Lock()
			s.edited = fmt.Errorf("ConfigMap firekeeper/shards: %w", scaling.ErrInvalid)
			s.mu.Unlock()
			s.said.Take()
			step.lead()
			s.pass(t, 10*time.Minute)
			s.want(t, 4)
			s.mu.Lock()
			if now := s.all[mainName]; s.edited != nil || now.Shards != 4 || now.Target != 4 {
				t.Errorf("%v, %+v", s.edited, now)
			}
			s.mu.Unlock()
			said := s.said.Take()
			if n := strings.Count(said, step.says); n != 1 || !strings.Contains(said, "ConfigMap firekeeper/shards: no valid") {
				t.Errorf("%d times %q in:\n%s", n, step.says, said)
			}
		}
	})
}

// An invalid annotation does not change the decision.
func TestDecisionsStay(t *testing.T) {
	runScaled(t, 4, scaling.Document{mainName: {Shards: 4, Target: 3}}, func(t *testing.T, s *scaled) {
		s.pods.pass(30 * time.Second)
		p := s.object(t)
		p.Annotations["firekeeper.dev/handoff"] = "jump"
		s.objects.set(catalog.Prometheus.GroupVersionResource(), p)
		s.pods.pass(5 * time.Minute)
		if now := s.main(); now.Target != 3 || now.Shards < 3 {
			t.Errorf("%+v", now)
		}
	})
}

// If one zone has no room, shards are added in all zones, and none is removed.
func TestLoadOfZones(t *testing.T) {
	w := &workload{shards: 4, object: &v1.Prometheus{}, scaler: autoscale.New(scaling.Workload{}), by: balance.New(nil, balance.Settings{Weighted: true})}
	for i, zone := range []string{"a", "b", "a", "b"} {
		w.shardList = append(w.shardList, allocation.Shard{Name: fmt.Sprint(i), Zone: zone})
	}
	w.by.Lead(time.Now(), 1)
	w.by.Shards(w.shardList, 4)
	var counted []balance.SeriesCount
	for i := range 100 {
		zone := "a"
		if i%10 == 0 {
			zone = "b"
		}
		counted = append(counted, balance.SeriesCount{Unit: w.by.Enter("demo", zone, fmt.Sprint(i), 0), Series: 1000})
	}
	w.by.Count(time.Now(), counted)
	w.by.Step(time.Now())
	load := w.load()
	if load.Series < 150_000 || load.Series > 220_000 || load.Measured < 150_000 || load.Measured > 220_000 { // zone a has 90,000, weights are rounded
		t.Errorf("%+v", load)
	}
}

// While permissions or targets are unknown, there is no decision, even if few targets remain.
func TestNoScalingWithoutTargets(t *testing.T) {
	runScaled(t, 4, nil, func(t *testing.T, s *scaled) {
		s.pass(t, 10*time.Minute)
		s.pods.mu.Lock()
		s.pods.away = true
		s.pods.mu.Unlock()
		s.pass(t, 90*time.Minute)
		s.want(t, 4)
		if now := s.main(); now.Target != 4 {
			t.Errorf("%+v", now)
		}
	})
}
