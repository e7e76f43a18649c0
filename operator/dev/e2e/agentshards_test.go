package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// edgePods are the agents in testdata/agentshards.yaml with two shards.
var edgePods = []string{"prom-agent-edge-0", "prom-agent-edge-shard-1-0"}

// An agent gets a second shard, and loses it again: targets move from one to the other and back, and the agent goes when
// it has sent all samples. Targets count how often they were scraped, so a sample that did not reach the server leaves a
// hole. The test is not parallel because it restarts the operator of deploy/.
func TestAgentShardsLoseNoSample(t *testing.T) {
	long(t)
	n := start(t)
	n.withCentralDiscovery(t)
	s := n.space(t, "agentshards")
	s.apply(t, strings.ReplaceAll(manifests(t, "agentshards.yaml"), "TARGET-IMAGE", "docker.io/firekeeper/rules-reloader:"+imageTag(t)))
	s.in(t, "rollout", "status", "deployment/target", "--timeout=4m")
	s.rolledOut(t, "web", "prometheus-web-0")
	s.rolledOut(t, "edge", edgePods[0])
	s.onShards(t, 8)

	s.edgeShards(t, 2)
	s.rolledOut(t, "edge", edgePods...)
	until(t, "targets on both shards", 10*time.Minute, func(ctx context.Context) (bool, error) {
		on, err := s.targetsOf(ctx, edgePods...)
		return err == nil && on[0] > 0 && on[1] > 0 && on[0]+on[1] == 8, fmt.Errorf("%v targets (%v)", on, err)
	})

	s.edgeShards(t, 1)
	began := time.Now()
	until(t, "end of the second shard", 25*time.Minute, func(ctx context.Context) (bool, error) {
		pods, err := s.pods(ctx, "edge")
		return err == nil && len(pods) == 1, fmt.Errorf("%d pods (%v)", len(pods), err)
	})
	t.Logf("the second shard went after %s", time.Since(began).Round(time.Second))
	s.onShards(t, 8)
	s.complete(t, 8, 5*time.Second)
	events := s.in(t, "get", "events", "-o", `jsonpath={range .items[*]}{.reason}: {.message}{.note}{"\n"}{end}`)
	if !strings.Contains(events, "ShardsScaled: 2 → 1 shards") || strings.Contains(events, "SamplesUnsent") {
		t.Errorf("Events:\n%s", events)
	}
}

// edgeShards sets the number of shards of the agent.
func (s space) edgeShards(t *testing.T, number int) {
	t.Helper()
	s.in(t, "patch", "prometheusagent", "edge", "--type=merge", "-p",
		fmt.Sprintf(`{"metadata":{"annotations":{"firekeeper.dev/max-shards":"%d"}},"spec":{"shards":%d}}`, number, number))
}

// onShards waits until the first shard scrapes this number of targets.
func (s space) onShards(t *testing.T, want int) {
	t.Helper()
	until(t, "targets of "+edgePods[0], patience, func(ctx context.Context) (bool, error) {
		on, err := s.targetsOf(ctx, edgePods[0])
		return err == nil && on[0] == want, fmt.Errorf("%v targets (%v)", on, err)
	})
}

// targetsOf returns how many healthy targets each pod has.
func (s space) targetsOf(ctx context.Context, pods ...string) ([]int, error) {
	out := make([]int, len(pods))
	for i, pod := range pods {
		targets, err := s.server(pod, "http").Targets(ctx)
		if err != nil {
			return out, err
		}
		for _, target := range targets {
			if target.Health == "up" {
				out[i]++
			}
		}
	}
	return out, nil
}

// sample is a received value of the counter of scrapes of a target.
type sample struct {
	at     float64 // in seconds
	number int
}

// received returns what the server has received of each target, in the order of time.
func (s space) received(t *testing.T) map[string][]sample {
	t.Helper()
	query := fmt.Sprintf(`promhttp_metric_handler_requests_total{namespace=%q,code="200"}[2h]`, s.name)
	text := s.kubectl(t, "get", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/prometheus-web-0:9090/proxy/api/v1/query?query=%s", s.name, url.QueryEscape(query)))
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	out := map[string][]sample{}
	for _, series := range answer.Data.Result {
		pod := series.Metric["pod"]
		for _, v := range series.Values {
			at, err := strconv.ParseFloat(string(v[0]), 64)
			if err != nil {
				t.Fatal(err)
			}
			number, err := strconv.Atoi(strings.Trim(string(v[1]), `"`))
			if err != nil {
				t.Fatal(err)
			}
			out[pod] = append(out[pod], sample{at, number})
		}
	}
	for _, of := range out {
		slices.SortFunc(of, func(a, b sample) int { return int(1000 * (a.at - b.at)) })
	}
	return out
}

// complete checks that the server has a sample of each scrape, and that no target waited for more than an interval and a
// second.
func (s space) complete(t *testing.T, targets int, interval time.Duration) {
	t.Helper()
	all := s.received(t)
	if len(all) != targets {
		t.Errorf("samples of %d targets, not %d", len(all), targets)
	}
	for pod, of := range all {
		last, gap := 0, 0.0
		for i, now := range of {
			last = max(last, now.number)
			if i > 0 {
				gap = max(gap, now.at-of[i-1].at)
			}
		}
		if len(of) != last+1 { // the first scrape tells 0
			t.Errorf("%s was scraped %d times, and the server has %d samples", pod, last+1, len(of))
		}
		if limit := interval + time.Second; gap > limit.Seconds() {
			t.Errorf("%s was not scraped for %.1f s, the limit is %s", pod, gap, limit)
		}
		t.Logf("%s: %d samples, longest gap %.1f s", pod, len(of), gap)
	}
}
