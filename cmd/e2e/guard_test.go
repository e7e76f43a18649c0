package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

// guard asks servers again and again whether they run all that is wanted, and
// notes the moments at which none of them did.
type guard struct {
	servers map[string]*live.Prometheus // by pod
	groups  []string                    // rule groups
	jobs    []string                    // scrape jobs

	stop func()
	done sync.WaitGroup

	samples int
	gaps    []string
}

const (
	guardPeriod = 100 * time.Millisecond
	// guardLimit is how long a look may take to count: the servers must have been
	// asked at the same time, and this machine may stand still between two requests.
	guardLimit = time.Second
)

// guard starts one. End it before the servers are meant to change.
func (s space) guard(t *testing.T, groups, jobs []string, pods ...string) *guard {
	t.Helper()
	g := &guard{servers: map[string]*live.Prometheus{}, groups: groups, jobs: jobs}
	for _, pod := range pods {
		g.servers[pod] = s.server(pod, "http")
	}
	ctx, cancel := context.WithCancel(t.Context())
	g.stop = cancel
	g.done.Go(func() {
		tick := time.NewTicker(guardPeriod)
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

// look asks all servers at the same time.
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
	if ctx.Err() != nil || time.Since(began) > guardLimit {
		return
	}
	g.samples++
	if !complete {
		g.gaps = append(g.gaps, began.Format(time.StampMilli)+" "+strings.Join(missing, "; "))
	}
}

// runsAll says what a server lacks.
func (g *guard) runsAll(ctx context.Context, server *live.Prometheus) error {
	loaded, err := server.RuleGroups(ctx)
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

// end stops asking and fails the test when something was missing at some moment.
func (g *guard) end(t *testing.T) {
	t.Helper()
	g.stop()
	g.done.Wait()
	if g.samples == 0 {
		t.Errorf("the machine was too slow: no look at the servers took less than %s", guardLimit)
	}
	if len(g.gaps) > 0 {
		t.Errorf("rules or jobs were missing in %d of %d looks:\n%s", len(g.gaps), g.samples, strings.Join(g.gaps[:min(len(g.gaps), 10)], "\n"))
	}
	t.Logf("%d looks at %d servers", g.samples, len(g.servers))
}
