package outages

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
)

// environment is everything that runs.
type environment struct {
	t                        *testing.T
	rand                     *rand.Rand
	cluster                  *cluster.Cluster
	kube                     kubernetes.Interface
	program, version         string // Prometheus
	operator, configReloader string
	caFile                   string
	replicas                 []*replica
	shards                   []*shard
	targets                  []*target
	reloads                  []span            // of all servers
	killed                   map[string][]span // when servers were down, by pod
	disturb                  func()            // (optional) is called while the number of shards changes
	setup
}

// setup is the initial state of a test.
type setup struct {
	mode        string // who discovers the targets
	agent       bool   // the workload is a PrometheusAgent
	annotations string // of the workload, in YAML
	interval    time.Duration
	applies     time.Duration // how often servers take over what they discovered
	inventories time.Duration // how often pods say what they scrape
	remoteWrite string        // URL of the receiver of all samples; may be empty
	speed       int           // of autoscaling

	numShards, numReplicas, numTargets int
}

// apart are two shards with the discovery of the servers themselves.
var apart = setup{mode: "own", interval: interval, applies: time.Second, numShards: 2, numReplicas: 1, numTargets: 12}

// newEnvironment starts everything.
func newEnvironment(t *testing.T, seed uint64, s setup) *environment {
	if testing.Short() {
		t.Skip("takes a minute, with an API server")
	}
	t.Logf("seed %d", seed)
	w := &environment{t: t, rand: rand.New(rand.NewPCG(seed, 0)), killed: map[string][]span{}, program: programtest.Find(t, "prometheus"), setup: s}
	version, err := programs.Release(t.Context(), w.program)
	must(t, err)
	w.version = "v" + version.String()
	w.caFile = filepath.Join(t.TempDir(), "ca.crt")
	dir, err := built()
	must(t, err)
	w.operator, w.configReloader = filepath.Join(dir, "operator"), filepath.Join(dir, "config-reloader")
	w.startCluster()
	for range s.numTargets {
		w.grow()
	}
	w.startService()
	t.Cleanup(w.logs)
	for number := range s.numShards {
		w.startReplicas(number)
	}
	return w
}

// startReplicas runs the pods of a shard.
func (w *environment) startReplicas(number int) {
	w.t.Helper()
	for replica := range w.numReplicas {
		w.shards = append(w.shards, w.startShard(number, replica))
	}
}

// logs prints the logs of a failed test.
func (w *environment) logs() {
	if !w.t.Failed() {
		return
	}
	for _, r := range w.replicas {
		w.t.Logf("%s: %s", r.Name, r.Log.Brief(60))
	}
	for _, s := range w.shards {
		w.t.Logf("%s: %s", s.reloader.Name, s.reloader.Log.Brief(40))
		w.t.Logf("%s: %s", s.prometheus.Name, s.prometheus.Log.Brief(20))
	}
}

// step changes who discovers the targets.
func (w *environment) step(mode string) {
	w.t.Helper()
	w.annotate(mode)
	for _, s := range w.shards {
		s.deliver(mode)
	}
	w.reloads = append(w.reloads, span{time.Now(), time.Now().Add(reload)})
}

// settled waits until everything is as it should be: each server runs the configuration, follows its list, and scrapes
// its targets, each of which is on one shard.
func (w *environment) settled(when string) {
	w.t.Helper()
	within(w.t, 2*time.Minute, when, func() error {
		var errs []error
		for _, s := range w.shards {
			errs = append(errs, s.runs(w.mode))
			if w.mode != "own" {
				errs = append(errs, s.connected(), s.delivered())
			}
		}
		return errors.Join(append(errs, w.owned())...)
	})
	since := time.Now()
	within(w.t, time.Minute, "scrapes "+when, func() error {
		for _, one := range w.targets {
			if one.until.IsZero() && one.after(since) < 1 {
				return fmt.Errorf("%s is not scraped", one.Name)
			}
		}
		return nil
	})
}

// owned checks that each target is on exactly one shard.
func (w *environment) owned() error {
	var got, want []string
	for _, s := range w.shards {
		active, err := s.active()
		if err != nil {
			return err
		}
		if len(active) == 0 {
			return fmt.Errorf("%s scrapes nothing", s.prometheus.Name)
		}
		got = append(got, active...)
	}
	for _, one := range w.targets {
		if one.until.IsZero() {
			want = append(want, one.Address)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("scraped are %v, want %v", got, want)
	}
	return nil
}

// changes adds a target and removes one, which must arrive.
func (w *environment) changes(when string) {
	w.t.Helper()
	w.grow()
	old := slices.IndexFunc(w.targets, func(s *target) bool { return s.until.IsZero() })
	w.shrink(w.targets[old])
	w.settled("after changes " + when)
}

// check checks the scrapes of all targets so far, and that there was no disagreement.
func (w *environment) check() {
	w.t.Helper()
	now := time.Now()
	for _, one := range w.targets {
		for _, text := range one.gaps(w.restartsOf(one), w.reloads, now) {
			w.t.Error(text)
		}
	}
	for _, r := range w.replicas {
		for line := range strings.Lines(r.Log.String()) {
			if strings.Contains(line, "of its list") || strings.Contains(line, "not in its list") || strings.Contains(line, "SuspiciousShrink") {
				w.t.Errorf("%s: %s", r.Name, line)
			}
		}
	}
}

// restartsOf returns the restarts of the server that scrapes a target.
func (w *environment) restartsOf(one *target) (out []span) {
	for _, s := range w.shards {
		if active, err := s.active(); err != nil || !one.until.IsZero() || slices.Contains(active, one.Address) {
			out = append(out, s.restarts...)
		}
	}
	return out
}
