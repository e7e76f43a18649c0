package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

// guard continuously checks whether some server runs all expected groups and jobs, and records the times at which none
// did.
type guard struct {
	servers map[string]guarded // by pod
	groups  []string           // expected rule groups
	jobs    []string           // expected scrape jobs
	period  time.Duration      // of the checks, guardPeriod if 0

	stop func()
	done sync.WaitGroup

	samples int
	gaps    []string
}

// guarded is implemented by *live.Prometheus.
type guarded interface {
	RuleGroups(ctx context.Context, names ...string) ([]live.RuleGroup, error)
	Config(context.Context) (string, error)
}

const (
	guardPeriod = 100 * time.Millisecond
	// guardLimit is the maximum duration of a valid check. The servers must be queried at the same time, but this
	// machine may stall between two requests.
	guardLimit = time.Second
)

// guard starts a guard. End it before an intended change of the servers.
func (s space) guard(t *testing.T, groups, jobs []string, pods ...string) *guard {
	t.Helper()
	servers := map[string]guarded{}
	for _, pod := range pods {
		servers[pod] = s.server(pod, "http")
	}
	return (&guard{servers: servers, groups: groups, jobs: jobs}).begin(t)
}

// begin starts the checks.
func (g *guard) begin(t *testing.T) *guard {
	ctx, cancel := context.WithCancel(t.Context())
	g.stop = cancel
	g.done.Go(func() {
		tick := time.NewTicker(cmp.Or(g.period, guardPeriod))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				g.look(ctx)
			}
		}
	})
	return g
}

// look queries all servers concurrently.
func (g *guard) look(ctx context.Context) {
	began := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	complete := false
	var missing []string
	for pod, server := range g.servers {
		wg.Go(func() {
			err := g.runsAll(ctx, server)
			mu.Lock()
			defer mu.Unlock()
			complete = complete || err == nil
			missing = append(missing, fmt.Sprintf("%s: %v", pod, err))
		})
	}
	wg.Wait()
	if ctx.Err() != nil || !complete && time.Since(began) > guardLimit {
		return
	}
	g.samples++
	if !complete {
		g.gaps = append(g.gaps, began.Format(time.StampMilli)+" "+strings.Join(missing, "; "))
	}
}

// runsAll returns an error if a server lacks a group or job.
func (g *guard) runsAll(ctx context.Context, server guarded) error {
	loaded, err := server.RuleGroups(ctx, g.groups...)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, group := range loaded {
		have[group.Name] = len(group.Rules) > 0
	}
	for _, want := range g.groups {
		if !have[want] {
			return fmt.Errorf("no rule group %s", want)
		}
	}
	config, err := server.Config(ctx)
	if err != nil {
		return err
	}
	for _, job := range g.jobs {
		if !strings.Contains(config, "job_name: "+job+"\n") {
			return errors.New("no job " + job)
		}
	}
	return nil
}

// end stops the checks and fails the test if something was missing at any time.
func (g *guard) end(t *testing.T) {
	t.Helper()
	g.stop()
	g.done.Wait()
	if g.samples == 0 {
		t.Errorf("no look at the servers found everything, and none took less than %s", guardLimit)
	}
	if len(g.gaps) > 0 {
		t.Errorf("rules or jobs were missing in %d of %d looks:\n%s", len(g.gaps), g.samples, strings.Join(g.gaps[:min(len(g.gaps), 10)], "\n"))
	}
	t.Logf("%d looks at %d servers", g.samples, len(g.servers))
}

// fake is a server with these groups and jobs. An empty one is down.
type fake []string

func (f fake) RuleGroups(context.Context, ...string) (groups []live.RuleGroup, err error) {
	if len(f) == 0 {
		return nil, errors.New("down")
	}
	for _, name := range f {
		group := live.RuleGroup{Name: name}
		group.Rules = append(group.Rules, struct{ Name, Query, Health, LastError string }{Query: "1"})
		groups = append(groups, group)
	}
	return groups, nil
}

func (f fake) Config(context.Context) (string, error) {
	return "- job_name: " + strings.Join(f, "\n- job_name: ") + "\n", nil
}

func TestGuardNoticesWhatIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		servers []fake
		gaps    int
	}{
		"both have all":              {[]fake{{"a", "b"}, {"a", "b"}}, 0},
		"one has all":                {[]fake{{"b", "a", "c"}, {}}, 0},
		"both are down":              {[]fake{{}, {}}, 1},
		"one is down, one has parts": {[]fake{{}, {"a"}}, 1},
		"together they have all":     {[]fake{{"a"}, {"b"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := &guard{servers: map[string]guarded{}, groups: []string{"a", "b"}, jobs: []string{"b"}}
			for i, s := range tc.servers {
				g.servers[fmt.Sprint(i)] = s
			}
			g.look(t.Context())
			if g.samples != 1 || len(g.gaps) != tc.gaps {
				t.Errorf("%d looks, gaps %q, want %d", g.samples, g.gaps, tc.gaps)
			}
		})
	}
}
