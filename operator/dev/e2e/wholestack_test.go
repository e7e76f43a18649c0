package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/live"
)

// stackImages lists the images of kube-prometheus other than Prometheus, in its versions: image without tag, programs.
var stackImages = map[string][]string{
	"quay.io/prometheus/node-exporter":                      {"node_exporter"},
	"quay.io/prometheus/blackbox-exporter":                  {"blackbox_exporter"},
	"registry.k8s.io/kube-state-metrics/kube-state-metrics": {"kube-state-metrics"},
	"quay.io/brancz/kube-rbac-proxy":                        {"kube-rbac-proxy"},
	"quay.io/prometheus/alertmanager":                       {"alertmanager", "amtool"},
}

const (
	// configmapReload is replaced by rules-reloader, which has the same flags, because its module is not available.
	configmapReload = "ghcr.io/jimmidyson/configmap-reload"
	referenceImage  = "quay.io/prometheus-operator/prometheus-operator"
	referenceReload = "quay.io/prometheus-operator/prometheus-config-reloader"
)

// stackTargets is the number of targets of each of the two servers, by ServiceMonitor and endpoint. The monitors
// grafana and prometheus-adapter have no targets, because the manifests have no pods of those two.
var stackTargets = map[string]int{
	"prometheus-k8s/0": 2, "prometheus-k8s/1": 2, "alertmanager-main/0": 3, "alertmanager-main/1": 3,
	"prometheus-operator/0": 1, "node-exporter/0": 1, "blackbox-exporter/0": 1, "kube-state-metrics/0": 1, "kube-state-metrics/1": 1,
	"kubelet/0": 1, "kubelet/1": 1, "kubelet/2": 1, "kubelet/3": 1, // metrics, cAdvisor, probes, SLIs
	"kube-apiserver/0": 1, "kube-apiserver/1": 1, "kube-controller-manager/0": 1, "kube-controller-manager/1": 1,
	"kube-scheduler/0": 1, "kube-scheduler/1": 1, "coredns/0": 1,
}

// stackSeries lists series of every exporter of the stack, and of rules that use them.
var stackSeries = []string{
	`container_memory_working_set_bytes{job="kubelet",metrics_path="/metrics/cadvisor"}`, `kubelet_running_pods`, `node_memory_MemAvailable_bytes`,
	`kube_pod_status_phase{namespace="monitoring"}`, `blackbox_exporter_build_info`, `coredns_build_info`, `scheduler_pending_pods`,
	`workqueue_depth{job="kube-controller-manager"}`, `apiserver_request_total`, `prometheus_operator_ready`, `alertmanager_cluster_members == 3`,
	`instance:node_num_cpu:sum`, `namespace_workload_pod:kube_pod_owner:relabel`,
}

// wholeStack applies all manifests of kube-prometheus with only the images of the operator replaced, and deletes them
// at the end of the test. Until then the operator of deploy/ is stopped.
func (n node) wholeStack(t *testing.T, dir string) {
	t.Helper()
	files := n.stackManifests(t, dir)
	n.loadStackImages(t, files)
	t.Cleanup(func() { n.removeStack(t, dir) })
	n.kubectl(t, "-n", "firekeeper", "scale", "deployment/prometheus-operator", "--replicas=0")
	n.kubectl(t, "-n", "firekeeper", "wait", "--for=delete", "pod", "-l", operatorPods, "--timeout=1m")
	n.applyText(t, strings.ReplaceAll(manifests(t, "controlplane.yaml"), "NODE-IP", n.NodeIP))
	n.kubectl(t, "apply", "-f", filepath.Join(files, "namespace.yaml"))
	n.kubectl(t, "apply", "-f", files)
}

const operatorPods = "app.kubernetes.io/component=controller,app.kubernetes.io/name=prometheus-operator"

// stackManifests copies the manifests with the project's operator and config-reloader, and returns the folder.
func (n node) stackManifests(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("manifests in %s: %d, %v", dir, len(files), err)
	}
	out, changed := t.TempDir(), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		for i, line := range lines {
			for image, ours := range map[string]string{referenceImage: "firekeeper/operator", referenceReload: "firekeeper/config-reloader"} {
				if before, _, found := strings.Cut(line, image+":"); found {
					lines[i], changed = before+ours+":"+imageTag(t)+"\n", changed+1
				}
			}
		}
		if err := os.WriteFile(filepath.Join(out, filepath.Base(file)), []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if changed != 2 {
		t.Fatalf("%d lines name images of the operator, want 2", changed)
	}
	return out
}

// loadStackImages loads every image of the manifests.
func (n node) loadStackImages(t *testing.T, dir string) {
	t.Helper()
	for _, image := range imagesIn(t, dir) {
		name, _, _ := strings.Cut(image, ":")
		began := time.Now()
		switch programs := stackImages[name]; {
		case image == prometheusImage || strings.HasPrefix(image, "firekeeper/"):
			continue // loaded by start
		case name == configmapReload:
			if err := n.LoadImage(t.Context(), cluster.Image{Name: image, Context: root(),
				Dockerfile: filepath.Join(root(), "Dockerfile.reloader"), Args: map[string]string{"RELOADER": "rules-reloader"}}); err != nil {
				t.Fatal(err)
			}
		case programs == nil:
			t.Fatalf("no program is known for image %s", image)
		default:
			if err := n.LoadPrograms(t.Context(), image, programs...); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s loaded in %s", image, time.Since(began).Round(100*time.Millisecond))
	}
}

// removeStack deletes the stack and starts the operator of deploy/ again.
func (n node) removeStack(t *testing.T, dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if t.Failed() {
		for _, args := range [][]string{{"get", "pods", "-o", "wide"}, {"get", "events", "--sort-by=.lastTimestamp"},
			{"logs", "-l", operatorPods, "-c", "prometheus-operator", "--tail=40"}} {
			out, err := n.Kubectl(ctx, append([]string{"-n", "monitoring"}, args...)...)
			t.Logf("kubectl %s (error: %v)\n%s", strings.Join(args, " "), err, tail(string(out), 60))
		}
	}
	for _, args := range [][]string{
		{"delete", "--ignore-not-found", "--wait=false", "-f", dir},
		{"delete", "--ignore-not-found", "clusterrolebinding", "firekeeper-delivery"},
		{"-n", "kube-system", "delete", "--ignore-not-found", "service,endpointslice", "kubelet", "kube-scheduler", "kube-controller-manager", "kube-dns"},
		{"-n", "firekeeper", "scale", "deployment/prometheus-operator", "--replicas=1"},
		{"wait", "--for=delete", "namespace/monitoring", "--timeout=3m"},
		{"-n", "firekeeper", "rollout", "status", "deployment/prometheus-operator", "--timeout=2m"},
	} {
		if out, err := n.Kubectl(ctx, args...); err != nil {
			t.Errorf("remove the stack: %v\n%s", err, out)
		}
	}
}

// applyText applies manifests.
func (n node) applyText(t *testing.T, manifests string) {
	t.Helper()
	if out, err := n.KubectlInput(t.Context(), []byte(manifests), "apply", "-f", "-"); err != nil {
		t.Fatal(err, string(out))
	}
}

// checkPods waits until all pods of the stack are ready, and returns them.
func (n node) checkPods(t *testing.T) []corev1.Pod {
	t.Helper()
	wanted := map[string]int{"prometheus-k8s": 2, "alertmanager-main": 3, "prometheus-operator": 1, "node-exporter": 1, "kube-state-metrics": 1, "blackbox-exporter": 1}
	var pods []corev1.Pod
	took := until(t, "pods", 2*patience, func(ctx context.Context) (bool, error) {
		list, err := n.kube.CoreV1().Pods("monitoring").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		pods = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
		ready, waiting := map[string]int{}, []string{}
		for _, p := range pods {
			if isReady(p) {
				ready[workloadOf(p)]++
			} else {
				waiting = append(waiting, p.Name)
			}
		}
		diff := cmp.Diff(wanted, ready)
		return diff == "" && len(waiting) == 0, fmt.Errorf("not ready: %q; ready: want -, got +\n%s", waiting, diff)
	})
	t.Logf("%d pods Ready after %s", len(pods), took.Round(100*time.Millisecond))
	return pods
}

// workloadOf returns the name of the workload of a pod: the name of the pod without the suffixes of the controllers.
func workloadOf(p corev1.Pod) string {
	return strings.TrimSuffix(strings.TrimSuffix(p.GenerateName, "-"), "-"+p.Labels["pod-template-hash"])
}

// checkTargets waits until each server scrapes exactly the targets of the stack successfully and has series of every
// exporter.
func checkTargets(t *testing.T, servers []*live.Prometheus) {
	for i, s := range servers {
		took := until(t, fmt.Sprintf("targets of server %d", i), patience, func(ctx context.Context) (bool, error) {
			targets, err := s.Targets(ctx)
			if err != nil {
				return false, err
			}
			up, report := map[string]int{}, ""
			for _, target := range targets {
				if target.Health == "up" {
					up[strings.TrimPrefix(target.ScrapePool, "serviceMonitor/monitoring/")]++
				} else {
					report += fmt.Sprintf("\n%s %s is %s: %s", target.ScrapePool, target.ScrapeURL, target.Health, target.LastError)
				}
			}
			diff := cmp.Diff(stackTargets, up)
			return diff == "" && report == "", fmt.Errorf("targets that are up: want -, got +\n%s%s", diff, report)
		})
		t.Logf("server %d scrapes all targets of %d endpoints after %s", i, len(stackTargets), took.Round(100*time.Millisecond))
		for _, expr := range stackSeries {
			until(t, fmt.Sprintf("series %s of server %d", expr, i), patience, func(ctx context.Context) (bool, error) {
				count, err := s.Series(ctx, expr)
				return count > 0, err
			})
		}
	}
}

// checkWatchdog adds a receiver to the configuration of the stack and waits for the alert that always fires. No other
// alert is routed to it.
func (n node) checkWatchdog(t *testing.T) {
	s := n.space(t, "watchdog")
	s.webhook(t)
	config := n.kubectl(t, "-n", "monitoring", "get", "secret", "alertmanager-main", "-o", `go-template={{index .data "alertmanager.yaml" | base64decode}}`)
	const receiver = "- \"name\": \"Watchdog\"\n"
	if strings.Count(config, receiver) != 1 {
		t.Fatalf("no receiver Watchdog in\n%s", config)
	}
	config = strings.Replace(config, receiver, receiver+"  \"webhook_configs\": [{\"url\": \"http://webhook."+s.name+".svc:8080/watchdog\"}]\n", 1)
	n.kubectl(t, "-n", "monitoring", "patch", "secret", "alertmanager-main", "--type=merge", "-p", fmt.Sprintf(`{"stringData":{"alertmanager.yaml":%q}}`, config))
	took := until(t, "Watchdog at the receiver", patience, func(ctx context.Context) (bool, error) {
		list, err := s.proxy.Webhook(s.name, "webhook", 8080).Notifications(ctx)
		if err != nil || len(list) == 0 {
			return false, errors.Join(err, errors.New("no notification"))
		}
		for _, notification := range list {
			for _, alert := range notification.Alerts {
				if notification.Receiver != "Watchdog" || alert.Labels["alertname"] != "Watchdog" || alert.Labels["prometheus"] != "monitoring/k8s" {
					t.Errorf("received %+v", notification)
				}
			}
		}
		return true, nil
	})
	t.Logf("Watchdog arrived %s after its receiver was configured", took.Round(100*time.Millisecond))
}

// documented returns the YAML block on a page of docs/ that contains a text.
func documented(t *testing.T, page, part string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(), "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)( *)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[2], part) {
			return strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n")
		}
	}
	t.Fatalf("docs/%s has no YAML with %q", page, part)
	return ""
}

// grantDelivery grants the operator of the stack the additional permissions listed in docs/whole-stack.md and restarts
// it, which does not affect the pods.
func (n node) grantDelivery(t *testing.T) {
	t.Helper()
	before := n.checkPods(t)
	n.applyText(t, documented(t, "whole-stack.md", "name: firekeeper-delivery"))
	n.kubectl(t, "-n", "monitoring", "rollout", "restart", "deployment/prometheus-operator")
	n.kubectl(t, "-n", "monitoring", "rollout", "status", "deployment/prometheus-operator", "--timeout=2m")
	until(t, "end of the operator before", patience, func(ctx context.Context) (bool, error) {
		pods, err := n.kube.CoreV1().Pods("monitoring").List(ctx, metav1.ListOptions{LabelSelector: operatorPods})
		return err == nil && len(pods.Items) == 1, err
	})
	others := func(pods []corev1.Pod) map[string]string {
		return identities(slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return workloadOf(p) == "prometheus-operator" }))
	}
	if diff := cmp.Diff(others(before), others(n.checkPods(t))); diff != "" {
		t.Errorf("pods restarted with the operator: was -, is +\n%s", diff)
	}
}
