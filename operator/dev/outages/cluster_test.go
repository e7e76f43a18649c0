package outages

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: firekeeper}
---
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: demo}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus, namespace: demo}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: prometheus, namespace: demo}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: prometheus, namespace: demo}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: prometheus}
subjects: [{kind: ServiceAccount, name: prometheus, namespace: demo}]
---
apiVersion: monitoring.coreos.com/%[5]s
metadata: {name: main, namespace: demo, annotations: {%[1]s}}
spec: {shards: %[2]d, serviceAccountName: prometheus, podMonitorSelector: {}, scrapeInterval: %[3]s}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: web, namespace: demo}
spec: {selector: {matchLabels: {app: web}}, podMetricsEndpoints: [{port: metrics, params: {by: [%[4]s]}}]}
`

const job = "podMonitor/demo/web/0"

// thisPod is replaced by the name of the pod in its configuration.
const thisPod = "this-pod"

// set returns the StatefulSet of a shard.
func (s setup) set(number int) string {
	name := "prometheus-main"
	if s.agent {
		name = "prom-agent-main"
	}
	if number == 0 {
		return name
	}
	return fmt.Sprint(name, "-shard-", number)
}

// resource returns the resource of the workload.
func (s setup) resource() string {
	if s.agent {
		return "prometheusagent"
	}
	return "prometheus"
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within repeats a check until it passes.
func within(t testing.TB, patience time.Duration, what string, check func() error) {
	t.Helper()
	poll(t, 50*time.Millisecond, patience, what, check)
}

// poll repeats a check at an interval until it passes.
func poll(t testing.TB, interval, patience time.Duration, what string, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(interval) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("%s: still after %s: %v", what, patience, err)
}

// startCluster starts an API server with the objects.
func (w *environment) startCluster() {
	t := w.t
	w.cluster = clustertest.Start(t, cluster.Options{})
	config := &rest.Config{Host: w.cluster.Host, BearerToken: w.cluster.Token, TLSClientConfig: rest.TLSClientConfig{CAFile: w.cluster.CAFile}, QPS: 100, Burst: 100}
	var err error
	w.kube, err = kubernetes.NewForConfig(config)
	must(t, err)
	crds, err := filepath.Abs(filepath.Join("..", "..", "..", "deploy", "crds"))
	must(t, err)
	w.kubectl("create", "-f", crds)
	w.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=1m")
	version := "v1\nkind: Prometheus"
	if w.agent {
		version = "v1alpha1\nkind: PrometheusAgent"
	}
	within(t, time.Minute, "the objects", func() error {
		_, err := w.cluster.KubectlInput(t.Context(), fmt.Appendf(nil, objects, w.annotations, w.numShards, w.interval, thisPod, version), "apply", "-f", "-")
		return err
	})
}

func (w *environment) kubectl(args ...string) {
	w.t.Helper()
	if _, err := w.cluster.Kubectl(w.t.Context(), args...); err != nil {
		w.t.Fatal(err)
	}
}

func pod(name, account string, port corev1.ContainerPort, labels map[string]string, set string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name, Labels: labels}, Spec: corev1.PodSpec{
		NodeName: "n", ServiceAccountName: account, Containers: []corev1.Container{{Name: "c", Image: "i", Ports: []corev1.ContainerPort{port}}},
	}}
	if set != "" {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: set, UID: "u", Controller: new(true)}}
	}
	return p
}

// createPod creates a running pod. Nothing but this test changes it.
func (w *environment) createPod(p *corev1.Pod) {
	w.t.Helper()
	within(w.t, time.Minute, "pod "+p.Name, func() error {
		ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
		defer cancel()
		pods := w.kube.CoreV1().Pods(p.Namespace)
		got, err := pods.Get(ctx, p.Name, metav1.GetOptions{})
		if err != nil {
			if got, err = pods.Create(ctx, p, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		got.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "127.0.0.1", PodIPs: []corev1.PodIP{{IP: "127.0.0.1"}},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		_, err = pods.UpdateStatus(ctx, got, metav1.UpdateOptions{})
		return err
	})
}

// grow adds a target and its pod.
func (w *environment) grow() *target {
	w.t.Helper()
	s := newTarget(w.t)
	var port int32
	if _, err := fmt.Sscan(s.Port(), &port); err != nil {
		w.t.Fatal(err)
	}
	w.createPod(pod(s.Name, "default", corev1.ContainerPort{Name: "metrics", ContainerPort: port}, map[string]string{"app": "web"}, ""))
	s.from = time.Now()
	w.targets = append(w.targets, s)
	return s
}

// shrink deletes the pod of a target.
func (w *environment) shrink(s *target) {
	w.t.Helper()
	s.until = time.Now()
	w.deletePod(s.Name)
}

func (w *environment) deletePod(name string) {
	w.t.Helper()
	within(w.t, time.Minute, "deletion of pod "+name, func() error {
		return w.kube.CoreV1().Pods("demo").Delete(w.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
}

// tokenOf writes a token of a pod to a file; with an audience, it is bound to the pod.
func (w *environment) tokenOf(name, audience, file string) {
	w.t.Helper()
	spec := authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(86400))}
	if audience != "" {
		p, err := w.kube.CoreV1().Pods("demo").Get(w.t.Context(), name, metav1.GetOptions{})
		must(w.t, err)
		spec.Audiences, spec.BoundObjectRef = []string{audience}, &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: name, UID: p.UID}
	}
	got, err := w.kube.CoreV1().ServiceAccounts("demo").CreateToken(w.t.Context(), "prometheus", &authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	must(w.t, err)
	must(w.t, os.WriteFile(file, []byte(got.Status.Token), 0o600))
}

// annotate sets who discovers the targets.
func (w *environment) annotate(mode string) {
	w.t.Helper()
	within(w.t, time.Minute, "annotation "+mode, func() error {
		_, err := w.cluster.Kubectl(w.t.Context(), "-n", "demo", "annotate", "--overwrite", w.resource(), "main", wellknown.AnnotationTargetDiscovery+"="+mode)
		return err
	})
	w.mode = mode
}

// bin is the folder of built, which TestMain removes; "" if nothing was built.
var bin string

// built builds the programs of the project once, and returns their folder.
var built = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "firekeeper-outages-"); err != nil {
		return "", err
	}
	bin = dir
	for _, name := range []string{"operator", "config-reloader"} {
		if _, err := trial.Build(dir, name); err != nil {
			return dir, err
		}
	}
	return dir, nil
})
