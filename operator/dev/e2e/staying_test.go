package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

const (
	// stayingPause is the time between two changes while a stack runs for a long time.
	stayingPause = 20 * time.Second
	// stayingPeriod is the time between two looks at rules and jobs of the servers.
	stayingPeriod = time.Second
)

// never lists queries over the whole time, %s, which have no result in a stack that is well.
var never = map[string]string{
	"targets down":               `max_over_time((1 - max_over_time(up[2m]))[%s:]) > 0`,
	"alerts":                     `count_over_time(ALERTS{alertstate="firing",alertname=~"(Prometheus|Alertmanager|ConfigReloader|TargetDown|KubePod|KubeStatefulSet).*"}[%s])`,
	"restarted containers":       `increase(kube_pod_container_status_restarts_total{namespace="monitoring"}[%s]) > 0`,
	"failed evaluations":         `increase(prometheus_rule_evaluation_failures_total[%s]) > 0`,
	"missed evaluations":         `increase(prometheus_rule_group_iterations_missed_total[%s]) > 0`,
	"failed reloads":             `min_over_time(prometheus_config_last_reload_successful[%s]) == 0`,
	"failed reconciliations":     `increase(prometheus_operator_reconcile_errors_total[%s]) > 0`,
	"alerts that were not sent":  `increase(prometheus_notifications_dropped_total[%s]) > 0`,
	"a watchdog that was silent": `max_over_time(absent_over_time(ALERTS{alertname="Watchdog",alertstate="firing"}[2m])[%s:]) > 0`,
}

// steady lists measures of processes that must not grow: the mean of the last quarter of the time may be this many times
// that of the second one.
var steady = map[string]float64{
	`sum(go_memstats_heap_inuse_bytes{job="prometheus-operator"})`:  1.3,
	`sum(process_resident_memory_bytes{job="prometheus-operator"})`: 1.3,
	`sum(go_goroutines{job="prometheus-operator"})`:                 1.1,
	`sum(process_resident_memory_bytes{endpoint="reloader-web"})`:   1.3, // all config-reloaders
	`sum(go_goroutines{endpoint="reloader-web"})`:                   1.1,
	`sum(process_open_fds{endpoint="reloader-web"})`:                1.1,
}

// staysWell changes rules and monitors for the time in FIREKEEPER_STAYING. No pod is replaced and no rule or job missing
// in the meantime, each change is live, and what the servers have recorded of themselves, the operator and the reloaders
// is well.
func (n node) staysWell(t *testing.T, servers []*live.Prometheus) {
	text := os.Getenv("FIREKEEPER_STAYING")
	if text == "" {
		t.Skip("FIREKEEPER_STAYING names no time, such as 1h")
	}
	lasts, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	before, began := identities(n.checkPods(t)), time.Now()
	g := n.guardStack(t, servers)
	took := n.changeFor(t, lasts, servers)
	g.end(t)
	window := fmt.Sprintf("%ds", int(time.Since(began).Seconds()))
	if diff := cmp.Diff(before, identities(n.checkPods(t))); diff != "" {
		t.Errorf("pods were replaced: was -, is +\n%s", diff)
	}
	slices.Sort(took)
	t.Logf("%d changes in %s: median %s, worst %s until both servers ran them (from the start of kubectl)", len(took), window, took[len(took)/2], took[len(took)-1])
	for what, query := range never {
		found, err := servers[0].Query(t.Context(), fmt.Sprintf(query, window))
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v (error: %v): %s", what, found, err, fmt.Sprintf(query, window))
		}
	}
	checkGrowth(t, servers[0], time.Since(began))
}

// changeFor changes a rule and a monitor in turn, each once the last change is live, and returns how long they took.
func (n node) changeFor(t *testing.T, lasts time.Duration, servers []*live.Prometheus) (took []time.Duration) {
	t.Helper()
	end := time.Now().Add(lasts)
	for i := 0; time.Now().Before(end); i++ {
		began := time.Now()
		change, to := n.changeStackRule, fmt.Sprintf("vector(%d)", 100_000+i)
		if i%2 == 1 {
			change, to = n.changeStackMonitor, fmt.Sprintf("e2e_staying_%d", i)
		}
		shows := change(t, to)
		until(t, fmt.Sprintf("change %d", i), patience, onAll(servers, shows))
		took = append(took, time.Since(began).Round(10*time.Millisecond))
		if i%15 == 14 {
			fmt.Fprintf(os.Stderr, "stack: %d changes, %s left\n", len(took), time.Until(end).Round(time.Second))
		}
		time.Sleep(stayingPause) // not a wait: the stack is observed for a long time
	}
	return took
}

// changeStackRule changes a rule in the namespace of the stack, and returns a check that detects the change.
func (n node) changeStackRule(t *testing.T, expr string) func(context.Context, *live.Prometheus) (bool, error) {
	t.Helper()
	n.applyText(t, fmt.Sprintf(`apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: e2e-staying, namespace: monitoring, labels: {prometheus: k8s, role: alert-rules}}
spec: {groups: [{name: e2e-staying, rules: [{record: "e2e:staying", expr: %q}]}]}
`, expr))
	return func(ctx context.Context, p *live.Prometheus) (bool, error) { return p.HasRule(ctx, expr) }
}

var jobName = regexp.MustCompile(`(?m)^- job_name: (\S+)$`)

// guardStack checks continuously that each server runs the groups and jobs that it has now.
func (n node) guardStack(t *testing.T, servers []*live.Prometheus) *guard {
	t.Helper()
	groups, err := servers[0].RuleGroups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config, err := servers[0].Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g := &guard{servers: map[string]guarded{}, period: stayingPeriod}
	for _, group := range groups {
		g.groups = append(g.groups, group.Name)
	}
	for _, m := range jobName.FindAllStringSubmatch(config, -1) {
		g.jobs = append(g.jobs, m[1])
	}
	if len(g.groups) < 20 || len(g.jobs) < 15 {
		t.Fatalf("only %d groups and %d jobs run", len(g.groups), len(g.jobs))
	}
	for i, s := range servers {
		g.servers[fmt.Sprintf("prometheus-k8s-%d", i)] = s
	}
	return g.begin(t)
}

// checkGrowth compares the means of the steady measures in the second and the last quarter of a time that ends now.
func checkGrowth(t *testing.T, server *live.Prometheus, lasted time.Duration) {
	t.Helper()
	quarter := int(lasted.Seconds() / 4)
	for _, measure := range slices.Sorted(maps.Keys(steady)) {
		early, err := server.Query(t.Context(), fmt.Sprintf("avg_over_time((%s)[%ds:15s] offset %ds)", measure, quarter, 2*quarter))
		if err != nil {
			t.Fatal(err)
		}
		late, err := server.Query(t.Context(), fmt.Sprintf("avg_over_time((%s)[%ds:15s])", measure, quarter))
		if err != nil {
			t.Fatal(err)
		}
		if len(early) != 1 || len(late) != 1 {
			t.Errorf("%s has no values: %v, then %v", measure, early, late)
			continue
		}
		t.Logf("%s: %.0f, then %.0f", measure, early[0].Value, late[0].Value)
		if late[0].Value > steady[measure]*early[0].Value {
			t.Errorf("%s grew from %.0f to %.0f", measure, early[0].Value, late[0].Value)
		}
	}
}
