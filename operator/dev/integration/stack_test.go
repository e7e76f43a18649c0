package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestStack covers the life of an operator with the public kube-prometheus manifests: the initial writes, no calls
// while idle, one object per change, no writes after a restart.
func TestStack(t *testing.T) {
	w := start(t)
	t.Parallel()
	folder := sharedFile(t, "real/kube-prometheus")
	const reloader = "--prometheus-config-reloader=firekeeper/config-reloader:test" // with the image of the manifests, render would mount more rule files
	flags := []string{"--controller-id=stack", "--namespaces=monitoring", reloader} // isolated from the other tests
	o := w.operator(t, "stack", "", flags...)
	w.applyFolder(t, folder)
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", "monitoring", "k8s",
		`{"metadata":{"annotations":{"operator.prometheus.io/controller-id":"stack"}}}`)
	w.reconciled(t, "monitoring", "k8s", "True")
	o.settle(t)

	t.Run("is what render prints", func(t *testing.T) {
		want, _ := w.render(t, reloader, "-f", folder, "--for", "Prometheus/monitoring/k8s", "--only", "config")
		got, err := w.configuration(t, "monitoring", "prometheus-k8s")
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Error(cmp.Diff(want, got))
		}
		if n := strings.Count(got, "- job_name: serviceMonitor/"); n < 13 {
			t.Errorf("%d jobs", n)
		}
	})
	t.Run("loads every rule", func(t *testing.T) {
		objects := w.list(t, "monitoring.coreos.com/v1", "PrometheusRule", "")
		files := w.ruleFiles(t, "monitoring", "k8s")
		for _, r := range objects {
			if r.GetNamespace() != "monitoring" {
				continue
			}
			file := fmt.Sprintf("monitoring-%s-%s.yaml", r.GetName(), r.GetUID())
			if !strings.Contains(files[file], "groups:") {
				t.Errorf("no rules under %s", file)
			}
			delete(files, file)
		}
		if len(files) > 0 {
			t.Errorf("files that nobody asked for: %v", files)
		}
	})
	t.Run("kubectl shows it", func(t *testing.T) { stackColumns(t, w) })
	t.Run("metrics", func(t *testing.T) { stackMetrics(t, o) })
	t.Run("an idle minute makes no call", func(t *testing.T) {
		before := len(w.audit.calls(t, o.user))
		requests, err := o.metric("prometheus_operator_kubernetes_client_http_requests_total")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // not a wait: the idle minute is tested
		after, err := o.metric("prometheus_operator_kubernetes_client_http_requests_total")
		calls := w.audit.calls(t, o.user)[before:]
		if len(texts(calls)) > 0 {
			t.Errorf("calls: %q", texts(calls))
		}
		// The API server ends watches after some minutes, and they are restarted.
		watches := len(slices.DeleteFunc(calls, func(c call) bool { return c.Verb != "watch" }))
		t.Logf("requests in an idle minute: %v, watches that ended: %d", after-requests, watches)
		if err != nil || after-requests > float64(watches) {
			t.Errorf("%v requests, %d watches that ended, %v", after-requests, watches, err)
		}
	})
	t.Run("a monitor changes one Secret", func(t *testing.T) {
		calls := o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1", "ServiceMonitor", "monitoring", "grafana",
				`{"spec":{"endpoints":[{"port":"http","interval":"17s"}]}}`)
			stackHas(t, w, "scrape_interval: 17s")
		})
		wantCalls(t, calls, "update secrets prometheus-k8s")
	})
	t.Run("a rule changes one ConfigMap", func(t *testing.T) {
		calls := o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", "monitoring", "grafana-rules",
				`{"spec":{"groups":[{"name":"changed","rules":[{"record":"changed:up","expr":"sum(up)"}]}]}}`)
			eventually(t, "the rule is written", func() error {
				for _, text := range w.ruleFiles(t, "monitoring", "k8s") {
					if strings.Contains(text, "changed:up") {
						return nil
					}
				}
				return fmt.Errorf("not in any file")
			})
		})
		wantCalls(t, calls, "update configmaps prometheus-k8s-rulefiles-0")
	})
	t.Run("changes that do not matter", func(t *testing.T) {
		calls := o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1", "ServiceMonitor", "monitoring", "grafana", `{"metadata":{"annotations":{"note":"x"}}}`)
			w.patch(t, "v1", "Secret", "monitoring", "alertmanager-main", `{"metadata":{"annotations":{"note":"x"}}}`)
			w.patch(t, "v1", "Namespace", "", "monitoring", `{"metadata":{"labels":{"note":"x"}}}`)
			w.patch(t, "monitoring.coreos.com/v1", "ServiceMonitor", "monitoring", "grafana", `{"metadata":{"labels":{"note":"x"}}}`)
		})
		wantCalls(t, calls)
	})
	t.Run("a restart writes nothing", func(t *testing.T) {
		before := len(w.audit.calls(t, o.user))
		o.stop(t)
		again := w.run(t, "stack", flags...)
		again.settle(t)
		var writes []string
		for _, c := range w.audit.calls(t, o.user)[before:] {
			if c.writes() {
				writes = append(writes, c.what())
			}
		}
		if len(writes) > 0 {
			t.Errorf("writes: %q", writes)
		}
	})
}

// wantCalls compares the calls without watches and events.
func wantCalls(t *testing.T, calls []call, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, texts(calls)); diff != "" {
		t.Errorf("calls (want -, got +):\n%s", diff)
	}
}

func stackHas(t *testing.T, w *environment, text string) {
	t.Helper()
	eventually(t, "the configuration says "+text, func() error {
		got, err := w.configuration(t, "monitoring", "prometheus-k8s")
		if err == nil && !strings.Contains(got, text) {
			err = fmt.Errorf("it does not")
		}
		return err
	})
}

func stackColumns(t *testing.T, w *environment) {
	cmd := exec.CommandContext(t.Context(), filepath.Join(w.cluster.Dir, "bin", "kubectl"), "get", "prometheus", "-n", "monitoring", "k8s")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.cluster.Kubeconfig)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	if got := strings.Fields(lines[0]); !slices.Equal(got, []string{"NAME", "VERSION", "DESIRED", "READY", "RECONCILED", "AVAILABLE", "AGE"}) {
		t.Errorf("columns %v", got)
	}
	row := strings.Fields(lines[1])
	if len(row) != 7 || row[0] != "k8s" || row[2] != "2" || row[3] != "0" || row[4] != "True" || row[5] != "False" {
		t.Errorf("row %v", row)
	}
	p, err := w.get(t, "monitoring.coreos.com/v1", "Prometheus", "monitoring", "k8s")
	if err != nil {
		t.Fatal(err)
	}
	status, _ := p.Object["status"].(map[string]any)
	for field, want := range map[string]any{
		"paused": false, "replicas": int64(2), "updatedReplicas": int64(2), "availableReplicas": int64(0), "unavailableReplicas": int64(2), "shards": int64(1),
		"selector": "app.kubernetes.io/instance=k8s,app.kubernetes.io/managed-by=prometheus-operator,app.kubernetes.io/name=prometheus,operator.prometheus.io/name=k8s,prometheus=k8s",
	} {
		if status[field] != want {
			t.Errorf("status.%s = %v, want %v", field, status[field], want)
		}
	}
	if err := hasCondition(p, "Available", "False", "NoPodReady"); err != nil {
		t.Error(err)
	}
	for _, m := range p.GetManagedFields() {
		if m.Subresource == "status" && (m.Manager != "PrometheusOperator" || m.Operation != metav1.ManagedFieldsOperationApply) {
			t.Errorf("status is written by %s, %s", m.Manager, m.Operation)
		}
	}
}

func stackMetrics(t *testing.T, o *operator) {
	families, err := o.families()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"build_info", "feature_gate", "kubernetes_client_http_requests_total", "kubernetes_client_http_request_duration_seconds",
		"kubernetes_client_rate_limiter_duration_seconds", "list_operations_failed_total", "list_operations_total", "managed_resources",
		"ready", "reconcile_duration_seconds", "reconcile_errors_total", "reconcile_operations_total", "reconcile_sts_delete_create_total",
		"spec_replicas", "spec_shards", "status_update_errors_total", "status_update_operations_total", "syncs", "triggered_total",
		"watch_operations_failed_total", "watch_operations_total", "workqueue_adds_total", "workqueue_depth", "workqueue_latency_seconds",
		"workqueue_longest_running_processor_seconds", "workqueue_retries_total", "workqueue_unfinished_work_seconds", "workqueue_work_duration_seconds",
	} {
		if families["prometheus_operator_"+name] == nil {
			t.Errorf("no metric prometheus_operator_%s", name)
		}
	}
	for _, prefix := range []string{"go_gc_", "go_sched_", "process_"} {
		found := false
		for name := range families {
			found = found || strings.HasPrefix(name, prefix)
		}
		if !found {
			t.Errorf("no metric %s…", prefix)
		}
	}
	for want, labels := range map[string][]string{
		"2 prometheus_operator_spec_replicas":          {"namespace", "monitoring", "name", "k8s", "controller", "prometheus"},
		"1 prometheus_operator_syncs":                  {"status", "ok"},
		"0 prometheus_operator_reconcile_errors_total": nil,
		"0 prometheus_operator_managed_resources":      {"state", "rejected"},
		"8 prometheus_operator_managed_resources":      {"resource", "PrometheusRule", "state", "selected"},
		"1 prometheus_operator_feature_gate":           {"name", "PrometheusTopologySharding"},
	} {
		number, name, _ := strings.Cut(want, " ")
		if v, err := o.metric(name, labels...); err != nil || fmt.Sprint(v) != number {
			t.Errorf("%s %v = %v, %v", want, labels, v, err)
		}
	}
	for _, m := range families["prometheus_operator_kubernetes_client_http_request_duration_seconds"].Metric {
		if endpoint := m.Label[0].GetValue(); strings.Contains(endpoint, "prometheus-k8s") || strings.Contains(endpoint, "/monitoring/") {
			t.Errorf("an endpoint names objects: %s", endpoint)
		}
	}
}
