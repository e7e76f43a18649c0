package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// discoveryPods selects the pods of the component central-discovery.
const discoveryPods = "app.kubernetes.io/component=discovery,app.kubernetes.io/name=prometheus-operator"

// centralPods are the pods of the Prometheus in testdata/central.yaml.
var centralPods = []string{"prometheus-main-0", "prometheus-main-shard-1-0"}

// withCentralDiscovery adds the component central-discovery to deploy/ until the end of the test, on a cluster that has
// never had it. flags are further ones of the discovery service.
func (n node) withCentralDiscovery(t *testing.T, flags ...string) {
	t.Helper()
	deploy, dir := filepath.Join(root(), "deploy"), t.TempDir()
	base, err := filepath.Rel(dir, deploy)
	if err != nil {
		t.Fatal(err)
	}
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [" + base + "]\ncomponents: [" + base + "/components/central-discovery]\n"
	if len(flags) > 0 {
		text += "patches:\n- target: {kind: Deployment, name: firekeeper-discovery}\n  patch: |-\n"
	}
	for _, flag := range flags {
		text += fmt.Sprintf("    - {op: add, path: /spec/template/spec/containers/0/args/-, value: %q}\n", flag)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if t.Failed() {
			logs, _ := n.Kubectl(ctx, "-n", "firekeeper", "logs", "-l", "app.kubernetes.io/name=prometheus-operator", "--tail=40", "--prefix")
			t.Logf("%s", logs)
		}
		component := filepath.Join(deploy, "components", "central-discovery")
		for _, args := range [][]string{
			{"delete", "-f", filepath.Join(component, "deployment.yaml"), "-f", filepath.Join(component, "rbac.yaml")},
			{"-n", "firekeeper", "wait", "--for=delete", "pod", "-l", discoveryPods, "--timeout=2m"},
			{"-n", "firekeeper", "delete", "--ignore-not-found", "secret/firekeeper-discovery-certificate", "configmap/firekeeper-discovery-ca", "configmap/firekeeper-discovery-shards", "lease/firekeeper-discovery"},
			{"apply", "-k", deploy},
			{"-n", "firekeeper", "rollout", "status", "deployment/prometheus-operator", "--timeout=2m"},
		} {
			if out, err := n.Kubectl(ctx, args...); err != nil {
				t.Error(err, string(out))
			}
		}
	})
	n.kubectl(t, "apply", "-k", dir)
	for _, name := range []string{"prometheus-operator", "firekeeper-discovery"} {
		n.kubectl(t, "-n", "firekeeper", "rollout", "status", "deployment/"+name, "--timeout=4m")
	}
}

// With the component, the shards of a Prometheus receive their targets: each of them is scraped by one shard, without
// discovery of its own, and stays while the discovery service is away. Pods receive the CA of the service although the
// operator has started before it existed. The test is not parallel because it restarts the operator of deploy/.
func TestCentralDiscovery(t *testing.T) {
	long(t)
	n := start(t)
	n.withCentralDiscovery(t)
	operator := n.operatorPods(t)
	s := n.space(t, "central")
	s.apply(t, strings.ReplaceAll(manifests(t, "central.yaml"), "TARGET-IMAGE", "docker.io/firekeeper/config-reloader:"+imageTag(t)))
	s.rolledOut(t, "main", centralPods...)
	began := time.Now()
	s.connected(t, 1)
	t.Logf("connected %s after the pods were ready", time.Since(began).Round(100*time.Millisecond))
	s.runs(t, "", "http://127.0.0.1:8082/sd/", centralPods...)
	first := s.divided(t)

	s.in(t, "annotate", "prometheus", "main", "firekeeper.dev/target-discovery=central", "--overwrite")
	for _, pod := range centralPods {
		until(t, "central discovery in "+pod, patience, func(ctx context.Context) (bool, error) {
			text, err := s.server(pod, "http").Config(ctx)
			if strings.Contains(text, "kubernetes_sd_configs") {
				err = errors.New("it still discovers targets on its own")
			}
			return err == nil && strings.Contains(text, "http://127.0.0.1:8082/sd/"), err
		})
	}
	s.refreshed(t)
	if diff := cmp.Diff(first, s.divided(t)); diff != "" {
		t.Errorf("targets of the shards before (-) and after (+) the change to central discovery:\n%s", diff)
	}
	s.grows(t, first, 7)

	s.kubectl(t, "-n", "firekeeper", "scale", "deployment/firekeeper-discovery", "--replicas=0")
	s.kubectl(t, "-n", "firekeeper", "delete", "pod", "-l", discoveryPods, "--grace-period=0", "--force")
	s.connected(t, 0)
	before := s.divided(t)
	s.refreshed(t)
	if diff := cmp.Diff(before, s.divided(t)); diff != "" {
		t.Errorf("targets of the shards with (-) and without (+) the discovery service:\n%s", diff)
	}
	s.kubectl(t, "-n", "firekeeper", "scale", "deployment/firekeeper-discovery", "--replicas=2")
	s.connected(t, 1)
	s.grows(t, before, 8)
	if diff := cmp.Diff(operator, n.operatorPods(t)); diff != "" {
		t.Errorf("the operator restarted:\n%s", diff)
	}
}

// divided waits until each pod behind the Service is scraped by one server, and returns the addresses by server.
func (s space) divided(t *testing.T) map[string][]string {
	t.Helper()
	var out map[string][]string
	until(t, "targets of "+s.name, patience, func(ctx context.Context) (bool, error) {
		pods, err := s.podsWith(ctx, "app=target")
		if err != nil {
			return false, err
		}
		var want, got []string
		for _, p := range pods {
			want = append(want, p.Status.PodIP+":8080")
		}
		out = map[string][]string{}
		for _, server := range centralPods {
			targets, err := s.server(server, "http").Targets(ctx)
			if err != nil {
				return false, err
			}
			for _, target := range targets {
				if target.Health == "up" {
					out[server] = append(out[server], target.Labels["instance"])
				}
			}
			slices.Sort(out[server])
			got = append(got, out[server]...)
		}
		slices.Sort(want)
		slices.Sort(got)
		diff := cmp.Diff(want, got)
		return diff == "", fmt.Errorf("targets: pods -, scraped +\n%s", diff)
	})
	return out
}

// grows adds pods until there are this many, and expects each of the new ones beside those of before.
func (s space) grows(t *testing.T, before map[string][]string, pods int) {
	t.Helper()
	began := time.Now()
	s.in(t, "scale", "deployment", "target", fmt.Sprintf("--replicas=%d", pods))
	s.in(t, "rollout", "status", "deployment/target", "--timeout=4m")
	after := s.divided(t)
	t.Logf("a new pod is scraped %s after it was wanted", time.Since(began).Round(100*time.Millisecond))
	total := 0
	for server, targets := range after {
		total += len(targets)
		for _, had := range before[server] {
			if !slices.Contains(targets, had) {
				t.Errorf("%s no longer scrapes %s", server, had)
			}
		}
	}
	if total != pods {
		t.Errorf("%d targets, want %d", total, pods)
	}
}

// connected waits until the pods follow their list (1), with targets of the job, or do not (0).
func (s space) connected(t *testing.T, want float64) {
	t.Helper()
	for _, pod := range centralPods {
		until(t, fmt.Sprintf("reloader_targets_connected %v in %s", want, pod), patience, func(context.Context) (bool, error) {
			connected, jobs := s.sum(t, pod, workload.ConfigReloaderPort, "reloader_targets_connected"), s.sum(t, pod, workload.ConfigReloaderPort, "reloader_targets_jobs")
			return connected == want && jobs == 1, fmt.Errorf("connected %v, %v jobs", connected, jobs)
		})
	}
}

// refreshed waits until the servers have requested their lists twice from now on, so that the effect of at least one
// request that began now is known.
func (s space) refreshed(t *testing.T) {
	t.Helper()
	const refreshes = `prometheus_sd_refresh_duration_seconds_count{[^}]*mechanism="http"[^}]*}`
	for _, pod := range centralPods {
		seen := s.sum(t, pod, 9090, refreshes)
		until(t, "requests of "+pod, patience, func(context.Context) (bool, error) {
			now := s.sum(t, pod, 9090, refreshes)
			return now >= seen+2, fmt.Errorf("%v requests, then %v", seen, now)
		})
	}
}

// sum returns the sum of the samples of a pod whose name and labels match a regular expression.
func (s space) sum(t *testing.T, pod string, port int, series string) (out float64) {
	t.Helper()
	page := s.kubectl(t, "get", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy/metrics", s.name, pod, port))
	for _, sample := range regexp.MustCompile(`(?m)^`+series+` (\S+)$`).FindAllStringSubmatch(page, -1) {
		value, err := strconv.ParseFloat(sample[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		out += value
	}
	return out
}

// operatorPods returns the identities of the pods of the operator of deploy/.
func (n node) operatorPods(t *testing.T) map[string]string {
	t.Helper()
	pods, err := space{node: n, name: "firekeeper"}.podsWith(t.Context(), operatorPods)
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods of the operator, %v", len(pods), err)
	}
	return identities(pods)
}
