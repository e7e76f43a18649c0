package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

// latencySamples returns the number of measured changes of each kind.
func latencySamples() int {
	if isLong() {
		return 20
	}
	return 5
}

const (
	// latencyLimit is the limit for the median latency of a change. It only has to distinguish immediate delivery from
	// the kubelet's refresh interval of about a minute, on any machine.
	latencyLimit = 15 * time.Second
	// latencySpacing is the pause between changes. Changes at more than one per second are delivered together, which is
	// not measured here.
	latencySpacing = 1250 * time.Millisecond
)

// shows detects a change in a running server.
type shows func(context.Context, *live.Prometheus) (bool, error)

func showsRule(expr string) shows {
	return func(ctx context.Context, p *live.Prometheus) (bool, error) { return p.HasRule(ctx, expr) }
}

func showsConfig(text string) shows {
	return func(ctx context.Context, p *live.Prometheus) (bool, error) {
		config, err := p.Config(ctx)
		return strings.Contains(config, text), err
	}
}

// latencies lists the kinds of changes; each makes its i-th change with kubectl.
var latencies = []struct {
	name   string
	change func(t *testing.T, s space, i int) shows
}{
	{"rule", func(t *testing.T, s space, i int) shows {
		expr := fmt.Sprintf("vector(%d)", 1000+i)
		s.in(t, "patch", "prometheusrule", "app", "--type=json", "-p", fmt.Sprintf(`[{"op":"replace","path":"/spec/groups/0/rules/0/expr","value":%q}]`, expr))
		return showsRule(expr)
	}},
	{"monitor", func(t *testing.T, s space, i int) shows {
		label := fmt.Sprintf("e2e_label_%d_", i)
		s.in(t, "patch", "servicemonitor", "app", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"targetLabels":[%q]}}`, label))
		return showsConfig(label)
	}},
	{"credential in a Secret", func(t *testing.T, s space, i int) shows {
		user := fmt.Sprintf("user-%d-", i)
		s.in(t, "patch", "secret", "login", "--type=merge", "-p", fmt.Sprintf(`{"stringData":{"user":%q}}`, user))
		return showsConfig("username: " + user)
	}},
	{"scrape class", func(t *testing.T, s space, i int) shows {
		value := fmt.Sprintf("class-%d-", i)
		s.patch(t, "web", fmt.Sprintf(`{"spec":{"scrapeClasses":[{"name":"class","default":true,"relabelings":[{"targetLabel":"class","replacement":%q}]}]}}`, value))
		return showsConfig("replacement: " + value)
	}},
}

// Changes are live immediately with the operator as configured in deploy/. The test is not parallel, because it prints
// its measurements.
func TestChangesAreLiveAtOnce(t *testing.T) {
	n := start(t)
	s := n.space(t, "live")
	s.id = "" // managed by the operator of deploy/
	s.apply(t, `
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: NAMESPACE}
stringData: {user: user, password: secret}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: login, namespace: NAMESPACE}
spec:
  selector: {}
  endpoints: [{port: web, basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}}]
`)
	s.web(t, "replicas: 2")
	before := identities(s.rolledOut(t, "web", webPods...))
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "change\tmedian\tworst of %d\n", latencySamples())
	for _, kind := range latencies {
		took := s.measureLatency(t, kind.name, kind.change)
		median, worst := took[len(took)/2], took[len(took)-1]
		fmt.Fprintf(w, "%s\t%s\t%s\n", kind.name, median, worst)
		if median > latencyLimit {
			t.Errorf("%s: the median change took %s, want at most %s", kind.name, median, latencyLimit)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("from the start of kubectl until both servers show the change\n%s", table.String())
	s.unchanged(t, before)
}

// measureLatency makes changes and waits until both servers show each of them. The result is sorted.
func (s space) measureLatency(t *testing.T, name string, change func(*testing.T, space, int) shows) []time.Duration {
	t.Helper()
	var took []time.Duration
	tick := time.NewTicker(latencySpacing)
	defer tick.Stop()
	for i := range latencySamples() {
		<-tick.C
		began := time.Now()
		shows := change(t, s, i)
		until(t, name, patience, func(ctx context.Context) (bool, error) {
			for _, pod := range webPods {
				if ok, err := shows(ctx, s.server(pod, "http")); !ok {
					return false, err
				}
			}
			return true, nil
		})
		took = append(took, time.Since(began).Round(10*time.Millisecond))
	}
	slices.Sort(took)
	return took
}
