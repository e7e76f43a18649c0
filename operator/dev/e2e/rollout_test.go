package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

var webPods = []string{"prometheus-web-0", "prometheus-web-1"}

// argsOf returns the arguments of a container of a pod.
func argsOf(t *testing.T, pod corev1.Pod, container string) []string {
	t.Helper()
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		if c.Name == container {
			return c.Args
		}
	}
	t.Fatalf("pod %s has no container %s", pod.Name, container)
	return nil
}

// Fields: version, image, logLevel, retention.
func TestVersionChange(t *testing.T) {
	long(t)
	s, _ := scenario(t, "version", "replicas: 2, retention: 3h", webPods...)
	g := s.guard(t, webGroups, s.webJobs(), webPods...)
	// Retention is configured by flags before 3.11 and in the configuration file since.
	s.patch(t, "web", `{"spec":{"version":"v3.10.0","image":"`+prometheusImage+`","logLevel":"warn"}}`)
	until(t, "new pods", patience, func(ctx context.Context) (bool, error) {
		pods, err := s.pods(ctx, "web")
		return err == nil && len(pods) == 2 && pods[0].Labels["app.kubernetes.io/version"] == "3.10.0", err
	})
	for _, pod := range s.rolledOut(t, "web", webPods...) {
		args := strings.Join(argsOf(t, pod, "prometheus"), " ")
		if !strings.Contains(args, "--storage.tsdb.retention.time=3h") || !strings.Contains(args, "--log.level=warn") {
			t.Errorf("arguments of %s: %s", pod.Name, args)
		}
		if pod.Labels["app.kubernetes.io/version"] != "3.10.0" {
			t.Errorf("labels of %s: %v", pod.Name, pod.Labels)
		}
	}
	g.end(t)
}

// Fields: image, imagePullPolicy. If one pod of a rollout cannot start, the other keeps running, the status explains
// the failure, and a fixed object completes the rollout.
func TestBrokenImage(t *testing.T) {
	s, _ := scenario(t, "broken-image", "replicas: 2, imagePullPolicy: Never", webPods...)
	pods, err := s.pods(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	first := identities(pods[:1])
	g := s.guard(t, webGroups, s.webJobs(), "prometheus-web-0")

	s.patch(t, "web", `{"spec":{"image":"example.org/no-such-image:v1"}}`)
	s.says(t, "web", conditions+`{.status.availableReplicas}`, "Available=Degraded Reconciled=True 1")
	s.explains(t, "shard 0: pod prometheus-web-1: containers with unready status: [prometheus]")
	s.in(t, "patch", "prometheusrule", "app", "--type=json", "-p", `[{"op":"replace","path":"/spec/groups/0/rules/0/expr","value":"sum(up) + 1"}]`)
	s.runs(t, "sum(up) + 1", "", "prometheus-web-0")

	s.patch(t, "web", `{"spec":{"image":null}}`)
	s.rolledOut(t, "web", webPods...)
	s.says(t, "web", conditions+`{.status.availableReplicas}`, "Available=True Reconciled=True 2")
	s.runs(t, "sum(up) + 1", "", webPods...)
	g.end(t)
	s.unchanged(t, first)
}

// Fields: thanos. The type of its bucket is missing, so the container does not start; everything else does.
func TestThanosSidecar(t *testing.T) {
	long(t)
	n := start(t)
	t.Parallel()
	s := n.space(t, "thanos")
	s.operatorOf(t, "--config-reloader-cpu-limit=0")
	s.web(t, `imagePullPolicy: Never, thanos: {version: v0.42.4, objectStorageConfig: {name: bucket, key: config}, readyTimeout: 1m}`)
	s.in(t, "create", "secret", "generic", "bucket", "--from-literal=config={}")
	s.runs(t, "sum(up)", s.webJobs()[0], "prometheus-web-0")
	pods, err := s.pods(t.Context(), "web")
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	if got, want := argsOf(t, pods[0], "thanos-sidecar"), []string{
		"sidecar", "--prometheus.url=http://localhost:9090/", "--grpc-address=:10901", "--http-address=:10902",
		"--objstore.config=$(OBJSTORE_CONFIG)", "--tsdb.path=/prometheus",
		"--shipper.meta-file-name=thanos.shipper.json", "--shipper.ignore-unequal-block-size",
		"--prometheus.ready_timeout=1m", "--prometheus.http-client-file=/etc/thanos/config/prometheus.http-client-file.yaml",
	}; !slices.Equal(got, want) {
		t.Errorf("arguments %q, want %q", got, want)
	}
	if args := argsOf(t, pods[0], "prometheus"); !slices.Contains(args, "--storage.tsdb.delay-compact-file.path=/prometheus/thanos.shipper.json") {
		t.Errorf("arguments of prometheus: %q", args)
	}
	if ports := s.in(t, "get", "service", "prometheus-operated", "-o", "jsonpath={.spec.ports[*].name}"); ports != "web grpc" {
		t.Errorf("ports of the Service: %s", ports)
	}
	s.says(t, "web", conditions+`{.status.availableReplicas}`, "Available=False Reconciled=True 0")
	s.explains(t, "unready status: [thanos-sidecar]")
}

// Fields: podManagementPolicy. With ordered pods, a broken pod blocks the rollout of the fixed object until the pod is
// deleted. The status names the pod.
func TestBrokenImageInOrder(t *testing.T) {
	long(t)
	s, _ := scenario(t, "broken-in-order", "replicas: 2, podManagementPolicy: OrderedReady, imagePullPolicy: Never", webPods...)
	g := s.guard(t, webGroups, s.webJobs(), "prometheus-web-0")
	s.patch(t, "web", `{"spec":{"image":"example.org/no-such-image:v1"}}`)
	var broken string
	until(t, "broken pod", patience, func(ctx context.Context) (bool, error) {
		pods, err := s.pods(ctx, "web")
		if err != nil || len(pods) != 2 || pods[1].Spec.Containers[0].Image == prometheusImage {
			return false, fmt.Errorf("%d pods (%v)", len(pods), err)
		}
		broken = string(pods[1].UID)
		return true, nil
	})
	s.says(t, "web", conditions+`{.status.availableReplicas}`, "Available=Degraded Reconciled=True 1")

	s.patch(t, "web", `{"spec":{"image":null}}`)
	until(t, "repaired template", patience, func(context.Context) (bool, error) {
		set := s.statefulSet(t, "prometheus-web")
		return set.Spec.Template.Spec.Containers[0].Image == prometheusImage && set.Status.ObservedGeneration == set.Generation, nil
	})
	if now := s.podUID(t, "prometheus-web-1"); now != broken {
		t.Errorf("the broken pod %s went by itself, now there is %s", broken, now)
	}
	s.explains(t, "shard 0: pod prometheus-web-1: containers with unready status: [prometheus]")
	s.in(t, "delete", "pod", "prometheus-web-1", "--wait=false")
	s.rolledOut(t, "web", webPods...)
	g.end(t)
}

func (s space) podUID(t *testing.T, name string) string {
	t.Helper()
	return s.in(t, "get", "pod", name, "-o", "jsonpath={.metadata.uid}")
}
