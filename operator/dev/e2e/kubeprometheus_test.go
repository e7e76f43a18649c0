package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	"github.com/firekeeper-dev/firekeeper/internal/live"
)

// changes is the number of measured changes of each kind.
const changes = 5

// TestKubePrometheus runs kube-prometheus with only the images of the operator replaced. Its pods become ready, all
// rules are loaded, all targets are scraped, an alert arrives, and changes are live immediately.
func TestKubePrometheus(t *testing.T) {
	long(t)
	dir := realManifests(t)
	n := start(t)
	n.wholeStack(t, dir)
	n.loadAlertmanagerImage(t)
	n.checkPods(t)
	for object, want := range map[string]string{"prometheus/k8s": "2 True True", "alertmanager/main": "3 True True"} {
		until(t, "status of "+object, time.Minute, func(context.Context) (bool, error) {
			status := n.kubectl(t, "-n", "monitoring", "get", object, "-o",
				`jsonpath={.status.availableReplicas} {.status.conditions[?(@.type=="Available")].status} {.status.conditions[?(@.type=="Reconciled")].status}`)
			return status == want, fmt.Errorf("status is %q", status)
		})
	}
	servers := []*live.Prometheus{
		n.proxy.Prometheus("monitoring", "prometheus-k8s-0", 9090),
		n.proxy.Prometheus("monitoring", "prometheus-k8s-1", 9090),
	}

	t.Run("targets are scraped", func(t *testing.T) { checkTargets(t, servers) })
	t.Run("Watchdog reaches a receiver", n.checkWatchdog)
	t.Run("the operator restarts with more permissions", n.grantDelivery)
	t.Run("all rule groups are loaded", func(t *testing.T) { checkRules(t, n, dir, servers) })
	t.Run("promtool accepts the configuration", func(t *testing.T) { checkConfig(t, n, servers[0]) })
	t.Run("an idle minute", func(t *testing.T) { checkIdle(t, n) })
	t.Run("a changed rule is live", func(t *testing.T) {
		measure(t, servers, func(i int) func(context.Context, *live.Prometheus) (bool, error) {
			expr := fmt.Sprintf("vector(%d)", 1000+i)
			n.kubectl(t, "-n", "monitoring", "patch", "prometheusrule", "kube-prometheus-rules", "--type=json", "-p",
				fmt.Sprintf(`[{"op":"add","path":"/spec/groups/0/rules/-","value":{"record":"e2e:change","expr":%q}}]`, expr))
			return func(ctx context.Context, p *live.Prometheus) (bool, error) { return p.HasRule(ctx, expr) }
		})
	})
	t.Run("a changed monitor is live", func(t *testing.T) {
		measure(t, servers, func(i int) func(context.Context, *live.Prometheus) (bool, error) {
			return n.changeStackMonitor(t, fmt.Sprintf("e2e_change_%d", i))
		})
	})
	t.Run("a long time", func(t *testing.T) { n.staysWell(t, servers) })
}

// changeStackMonitor changes the monitor of the servers, and returns a check that detects the change.
func (n node) changeStackMonitor(t *testing.T, label string) func(context.Context, *live.Prometheus) (bool, error) {
	t.Helper()
	n.kubectl(t, "-n", "monitoring", "patch", "servicemonitor", "prometheus-k8s", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"targetLabels":[%q]}}`, label))
	return func(ctx context.Context, p *live.Prometheus) (bool, error) {
		text, err := p.Config(ctx)
		return strings.Contains(text, label), err
	}
}

// checkIdle counts the operator's API requests while nothing changes. A watch that ends and is restarted is one
// request; there are twelve watches.
func checkIdle(t *testing.T, n node) {
	const watches = 12
	before := n.requests(t)
	time.Sleep(time.Minute) // not a wait: the idle minute is measured
	asked := n.requests(t) - before
	t.Logf("%d requests to the API server in an idle minute", asked)
	if asked > watches {
		t.Errorf("%d requests in an idle minute", asked)
	}
}

// requests returns the number of API requests of the operator so far.
func (n node) requests(t *testing.T) int {
	t.Helper()
	pod := n.kubectl(t, "-n", "monitoring", "get", "pods", "-l", operatorPods, "-o", "jsonpath={.items[0].metadata.name}")
	text := n.kubectl(t, "get", "--raw", "/api/v1/namespaces/monitoring/pods/"+pod+":8080/proxy/metrics")
	sum := 0
	for _, m := range regexp.MustCompile(`(?m)^prometheus_operator_kubernetes_client_http_requests_total\{.*\} (\d+)$`).FindAllStringSubmatch(text, -1) {
		count, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		sum += count
	}
	if sum == 0 {
		t.Fatal("the operator counts no requests")
	}
	return sum
}

// imagesIn returns the images in the manifests of a folder, including those in flags.
func imagesIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var images []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^ +image: (\S+)$|--prometheus-config-reloader=(\S+)$`).FindAllStringSubmatch(string(text), -1) {
			images = append(images, m[1]+m[2])
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}

func checkRules(t *testing.T, n node, dir string, servers []*live.Prometheus) {
	wanted := strings.Fields(n.kubectl(t, "get", "prometheusrules", "-A", "-o", "jsonpath={.items[*].spec.groups[*].name}"))
	slices.Sort(wanted)
	if len(wanted) < 20 {
		t.Fatalf("only %d groups in the manifests of %s", len(wanted), dir)
	}
	for i, s := range servers {
		until(t, fmt.Sprintf("rules of server %d", i), time.Minute, func(ctx context.Context) (bool, error) {
			groups, err := s.RuleGroups(ctx)
			var got []string
			for _, g := range groups {
				got = append(got, g.Name)
			}
			slices.Sort(got)
			if err == nil && !slices.Equal(got, wanted) {
				err = fmt.Errorf("%d groups are loaded, want %d", len(got), len(wanted))
			}
			return err == nil, err
		})
	}
	t.Logf("%d rule groups are loaded", len(wanted))
}

// checkConfig checks the configuration file of the server.
func checkConfig(t *testing.T, n node, server *live.Prometheus) {
	text, err := server.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "prometheus.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := programs.Default(os.Stderr).Find(t.Context(), "promtool")
	if err != nil {
		t.Fatal(err)
	}
	// Files that the configuration refers to exist only in the pod.
	if out, err := exec.CommandContext(t.Context(), found["promtool"], "check", "config", "--syntax-only", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// measure makes changes and waits until all servers show each of them. change makes the i-th one and returns a check
// that detects it.
func measure(t *testing.T, servers []*live.Prometheus, change func(i int) func(context.Context, *live.Prometheus) (bool, error)) {
	var took []time.Duration
	for i := range changes {
		began := time.Now()
		shows := change(i)
		until(t, "change", 3*time.Minute, onAll(servers, shows))
		took = append(took, time.Since(began).Round(10*time.Millisecond))
	}
	sorted := slices.Sorted(slices.Values(took))
	t.Logf("live on both servers after %v: median %s, worst %s (from the start of kubectl)", took, sorted[len(sorted)/2], sorted[len(sorted)-1])
	if sorted[len(sorted)/2] > latencyLimit {
		t.Errorf("the median change took %s, want at most %s", sorted[len(sorted)/2], latencyLimit)
	}
}

// onAll returns a check that is true once shows is true of all servers.
func onAll(servers []*live.Prometheus, shows func(context.Context, *live.Prometheus) (bool, error)) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		for _, s := range servers {
			if ok, err := shows(ctx, s); !ok {
				return false, err
			}
		}
		return true, nil
	}
}
