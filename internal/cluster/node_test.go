package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

const prometheusImage = "firekeeper.local/prometheus:test"

// A server that scrapes itself through the name of its Service covers pod, volume, DNS, Service and StatefulSet.
const selfScraping = `
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  prometheus.yml: |
    global: {scrape_interval: 1s}
    scrape_configs:
    - job_name: through-service
      static_configs: [{targets: ["web.default.svc.cluster.local:80"]}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 9090}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  serviceName: web
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      securityContext: {runAsNonRoot: true, runAsUser: 65534, fsGroup: 65534}
      containers:
      - name: prometheus
        image: ` + prometheusImage + `
        imagePullPolicy: IfNotPresent
        args: [--config.file=/config/prometheus.yml, --storage.tsdb.path=/data]
        ports: [{containerPort: 9090, name: web}]
        readinessProbe: {httpGet: {path: /-/ready, port: web}, periodSeconds: 1}
        volumeMounts: [{name: config, mountPath: /config}, {name: data, mountPath: /data}]
      volumes: [{name: config, configMap: {name: config}}, {name: data, emptyDir: {}}]
`

// The steps of this test depend on each other and share one node.
func TestNode(t *testing.T) {
	before := "" // only read if the node will be started
	if os.Getenv("FIREKEEPER_E2E") != "" && os.Geteuid() == 0 {
		before = machine(t)
	}
	c := clustertest.Start(t, cluster.Options{Node: true})
	steps := []struct {
		name string
		do   func(*testing.T, *cluster.Cluster)
	}{
		{"a StatefulSet of Prometheus becomes ready", statefulSetReady},
		{"pods reach each other through Service and DNS", scrapesThroughService},
		{"the API server is reachable from pods", apiFromPod},
		{"a ConfigMap reaches the pod when the pod is annotated", volumeRefresh},
		{"logs and exec reach the kubelet", logsAndExec},
		{"an image of a Dockerfile runs", dockerfileImage},
	}
	for _, step := range steps {
		if !t.Run(step.name, func(t *testing.T) { step.do(t, c) }) {
			return
		}
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if after := machine(t); after != before {
		t.Errorf("the machine is not as before.\nbefore:\n%s\nafter:\n%s", before, after)
	}
}

// machine lists traces that a node must not leave behind.
func machine(t *testing.T) string {
	t.Helper()
	script := `PATH=$PATH:/usr/sbin
ip -o link | awk '{print $2}'
iptables-save 2>/dev/null | grep -E 'KUBE|CNI'
ip6tables-save 2>/dev/null | grep -E 'KUBE|CNI'
awk '{print $5}' /proc/self/mountinfo | grep -E 'firekeeper|kubelet|cni'
awk '$5 == "/" || $5 == "/sys" {print $5, $7}' /proc/self/mountinfo
grep -l -a -E 'firekeeper-cluste[r]-|/run/firekeepe[r]' /proc/[0-9]*/cmdline 2>/dev/null
cat /proc/sys/net/ipv4/ip_forward /proc/sys/kernel/panic
ls -d /run/firekeepe[r] /var/lib/kubelet /var/lib/cni /var/log/containers /sys/fs/cgroup/k8s.io /sys/fs/cgroup/*/k8s.io 2>/dev/null
true`
	out, err := exec.Command("sh", "-c", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func kubectl(t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	out, err := c.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func apply(t *testing.T, c *cluster.Cluster, manifest string) {
	t.Helper()
	if _, err := c.KubectlInput(t.Context(), []byte(manifest), "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// eventually polls a condition and reports the last error on a timeout.
func eventually(t *testing.T, limit time.Duration, check func(context.Context) error) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		err := check(t.Context())
		if err == nil {
			break
		}
		if time.Since(began) > limit {
			t.Fatalf("not within %s: %v", limit, err)
		}
	}
	return time.Since(began)
}

func statefulSetReady(t *testing.T, c *cluster.Cluster) {
	if err := c.LoadPrometheus(t.Context(), prometheusImage); err != nil {
		t.Fatal(err)
	}
	apply(t, c, selfScraping)
	kubectl(t, c, "rollout", "status", "statefulset/web", "--timeout=90s")
	if got := kubectl(t, c, "get", "statefulset", "web", "-o", "jsonpath={.status.readyReplicas}"); got != "2" {
		t.Errorf("ready replicas = %s, want 2", got)
	}
}

func scrapesThroughService(t *testing.T, c *cluster.Cluster) {
	eventually(t, 30*time.Second, func(ctx context.Context) error {
		out, err := c.Kubectl(ctx, "exec", "web-0", "--", "/bin/promtool", "query", "instant", "http://web:80", "up == 1")
		if err == nil && !strings.Contains(string(out), "=> 1") {
			err = fmt.Errorf("no target is up: %q", out)
		}
		return err
	})
}

// apiFromPod connects to the API server through its Service. A rejected certificate proves that it responds: the
// image's CA certificates do not include the cluster's.
func apiFromPod(t *testing.T, c *cluster.Cluster) {
	out, err := c.Kubectl(t.Context(), "exec", "web-0", "--",
		"/bin/promtool", "query", "instant", "https://kubernetes.default:443", "up")
	said := string(out)
	if err != nil {
		said += err.Error()
	}
	if !strings.Contains(said, "certificate signed by unknown authority") {
		t.Errorf("no TLS handshake with the API server: %s", said)
	}
}

// volumeRefresh measures a prerequisite of delivery in under a second: the kubelet refreshes a pod's volumes
// immediately when the pod changes.
func volumeRefresh(t *testing.T, c *cluster.Cluster) {
	files, err := filepath.Glob(filepath.Join(c.Dir, "kubelet/pods/*/volumes/kubernetes.io~configmap/config/prometheus.yml"))
	if err != nil || len(files) != 2 {
		t.Fatalf("volumes on the host: %v, %v", files, err)
	}
	for i := range 3 {
		value := fmt.Sprintf("# change %d\n", i)
		patch, err := json.Marshal(map[string]any{"data": map[string]string{"prometheus.yml": value}})
		if err != nil {
			t.Fatal(err)
		}
		kubectl(t, c, "patch", "configmap", "config", "--type=merge", "-p", string(patch))
		kubectl(t, c, "annotate", "pods", "-l", "app=web", "--overwrite", fmt.Sprintf("example.com/change=%d", i))
		took := eventually(t, 20*time.Second, func(context.Context) error {
			for _, file := range files {
				if content, err := os.ReadFile(file); err != nil || string(content) != value {
					return fmt.Errorf("%s: %.40q, %v", file, content, err)
				}
			}
			return nil
		})
		t.Logf("volumes of both pods fresh %s after the annotation", took.Round(time.Millisecond))
	}
}

func logsAndExec(t *testing.T, c *cluster.Cluster) {
	if got := kubectl(t, c, "logs", "web-0"); !strings.Contains(got, "Server is ready") {
		t.Errorf("logs = %.300s", got)
	}
	if got := kubectl(t, c, "exec", "web-0", "--", "/bin/promtool", "--version"); !strings.Contains(got, "version 3.") {
		t.Errorf("exec = %s", got)
	}
}

func dockerfileImage(t *testing.T, c *cluster.Cluster) {
	dir := t.TempDir()
	found, err := programs.Default(t.Output()).Static(t.Context(), "amtool")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(found["amtool"])
	if err != nil {
		t.Fatal(err)
	}
	dockerfile := "FROM scratch\nARG PROGRAM\nCOPY ${PROGRAM} /run-me\nENTRYPOINT [\"/run-me\"]\n"
	for name, content := range map[string][]byte{"Dockerfile": []byte(dockerfile), "amtool": program} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	img := cluster.Image{Name: "tools:dev", Context: dir, Args: map[string]string{"PROGRAM": "amtool"}}
	if err := c.LoadImage(t.Context(), img); err != nil {
		t.Fatal(err)
	}
	kubectl(t, c, "run", "tool", "--image=tools:dev", "--image-pull-policy=Never", "--restart=Never", "--", "--version")
	kubectl(t, c, "wait", "pod/tool", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=30s")
	if got := kubectl(t, c, "logs", "tool"); !strings.Contains(got, "amtool, version 0.33.1") {
		t.Errorf("the program says %q", got)
	}
}
