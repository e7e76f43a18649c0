package targets

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const agentMetrics = `# HELP prometheus_agent_active_series Number of active series.
prometheus_agent_active_series 1000
prometheus_agent_active_series_of_others 7
prometheus_remote_storage_highest_timestamp_in_seconds 1.764230400e+09
prometheus_remote_storage_queue_highest_sent_timestamp_seconds{remote_name="a",url="http://x/{y} z"} 1.764230400e+09
prometheus_remote_storage_samples_pending{remote_name="a",url="http://x/{y} z"} 0
prometheus_remote_storage_samples_pending_of_others 7
`

func TestReadAgent(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want agent
		ok   bool
	}{
		"sent":         {agentMetrics, agent{series: 1000}, true},
		"a server":     {strings.ReplaceAll(agentMetrics, "agent_active_series", "tsdb_head_series"), agent{}, false},
		"nothing":      {"", agent{}, false},
		"queued":       {strings.ReplaceAll(agentMetrics, `z"} 0`, `z"} 12`) + "prometheus_remote_storage_samples_pending{remote_name=\"b\"} 5\n", agent{series: 1000, unsent: 17}, true},
		"not queued":   {strings.ReplaceAll(agentMetrics, `z"} 1.764230400e+09`, `z"} 1.764230399e+09`), agent{series: 1000, unsent: 1}, true},
		"without sent": {"prometheus_agent_active_series 3\nprometheus_remote_storage_highest_timestamp_in_seconds 5\n", agent{series: 3}, true},
		"truncated":    {agentMetrics + "prometheus_agent_truncate_duration_seconds_sum 0.5\nprometheus_agent_truncate_duration_seconds_count 3\n", agent{series: 1000, truncations: 3}, true},
		"nonsense":     {"prometheus_agent_active_series -1\nprometheus_remote_storage_samples_pending NaN\nprometheus_remote_storage_samples_pending{\n", agent{}, false},
	} {
		got, ok, err := readAgent(strings.NewReader(c.text))
		if got != c.want || ok != c.ok || err != nil {
			t.Errorf("%s: %+v, %t, %v", name, got, ok, err)
		}
	}
	if _, _, err := readAgent(strings.NewReader(strings.Repeat("x", maxMetric+1))); err == nil {
		t.Error("an endless line is read")
	}
}

// The series of an agent, which has no query API, are divided among all its targets, including those of other jobs. The
// inventory reports unsent samples, also without targets.
func TestInventoryOfAgent(t *testing.T) {
	r := newReported(t)
	r.prometheus.Query = r.prometheus.Targets.ResolveReference(&url.URL{Path: "/api/v1/query"})
	r.prometheus.Metrics = r.prometheus.Targets.ResolveReference(&url.URL{Path: "/metrics"})
	unsent := func(what string, want string) {
		t.Helper()
		text, err := r.inventory(t.Context(), r.now)
		must(t, err)
		got := "unknown"
		must(t, targetreport.ReadInventory(bytes.NewReader(text), func(i targetreport.Inventory) error {
			if i.Unsent != nil {
				got = "all"
				if *i.Unsent > 0 {
					got = "some"
				}
			}
			return nil
		}, func(string, string, targetreport.InventoryTarget) error { return nil }))
		if got != want {
			t.Errorf("%s: %s", what, got)
		}
	}
	r.pass(5*time.Second, "a", "b")
	r.scrapedAt(r.now.Add(time.Hour))
	r.wantsInventory("of which the metrics are not known", "3-7: a 10.0.0.1:80 scraped, a 10.0.0.2:80 scraped, b 10.0.0.1:80 scraped")
	unsent("of which the metrics are not known", "unknown")
	r.metrics = agentMetrics
	r.wantsInventory("agent", "3-7: a 10.0.0.1:80 250 series scraped, a 10.0.0.2:80 250 series scraped, b 10.0.0.1:80 250 series scraped")
	unsent("agent", "all")
	r.failing = map[string]bool{"a 10.0.0.1:80": true, "own 10.0.0.9:80": true}
	r.wantsInventory("with targets that are down", "3-7: a 10.0.0.1:80 scraped, a 10.0.0.2:80 250 series scraped, b 10.0.0.1:80 250 series scraped")
	r.metrics = strings.ReplaceAll(agentMetrics, `z"} 0`, `z"} 12`)
	unsent("queued", "some")
	r.active = nil
	unsent("without targets", "some")
	r.metrics, r.series = "prometheus_tsdb_head_series 5\n", map[string]string{"a 10.0.0.1:80": "412"}
	unsent("a server", "unknown")
}

// Until an agent truncates its WAL, the series of targets that it no longer scrapes are not attributed to its other
// targets: a target that has moved to another shard would count on both, and autoscaling would add shards.
func TestSeriesOfTargetsThatLeft(t *testing.T) {
	s, now := agentSeries{}, time.Unix(0, 0)
	for _, step := range []struct {
		what        string
		after       time.Duration
		up          string // one letter each
		series      uint64
		truncations uint64
		want        uint64
	}{
		{"at first", 0, "abcdefgh", 800, 4, 100},
		{"two leave", 5 * time.Minute, "abcdef", 800, 4, 100},
		{"nothing happens", 5 * time.Minute, "abcdef", 800, 4, 100},
		{"a truncation, and one leaves after it", 5 * time.Minute, "abcde", 600, 5, 100},
		{"a truncation comes too soon", 5 * time.Minute, "abcde", 600, 6, 100},
		{"the next one", 5 * time.Minute, "abcde", 500, 7, 100},
		{"more series", 5 * time.Minute, "abcde", 1000, 7, 200},
		{"one is down", 5 * time.Minute, "abcd", 1000, 7, 200},
		{"and up again", 5 * time.Minute, "abcde", 1000, 7, 200},
		{"another one comes", 5 * time.Minute, "abcdei", 1200, 7, 200},
		{"the agent restarts", 5 * time.Minute, "abcdei", 1200, 0, 200},
		{"all are others", 5 * time.Minute, "xyz", 1260, 0, 20},
		{"none", 5 * time.Minute, "", 1260, 0, 0},
		{"fewer series than those that left had", 5 * time.Minute, "abc", 30, 0, 0},
		{"a truncation after it", 5 * time.Minute, "abc", 60, 1, 20},
	} {
		up := map[uint64]bool{}
		for _, letter := range step.up {
			up[uint64(letter)] = true
		}
		now = now.Add(step.after)
		if got, ok := s.divide(now, agent{series: step.series, truncations: step.truncations}, up); got != step.want || ok != (step.want > 0) {
			t.Errorf("%s: %d series, %t, want %d", step.what, got, ok, step.want)
		}
	}
}
