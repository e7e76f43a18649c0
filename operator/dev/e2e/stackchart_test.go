package e2e

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
)

const (
	// referenceTag is the version of the reference operator in the chart kube-prometheus-stack.
	referenceTag = "v0.93.1"
	// stackOperator is the name of the operator's objects in the release kps.
	stackOperator = "kps-kube-prometheus-stack-operator"
)

// stackPods are the pods that must not restart.
var stackPods = []string{"alertmanager-kps-kube-prometheus-stack-alertmanager-0", "prometheus-kps-kube-prometheus-stack-prometheus-0"}

// stackValues disable what has images that are not built here. The certificate of the webhooks is created before the
// installation, because the image of the Job that does so in the chart is none of them.
const stackValues = `
grafana: {enabled: false, forceDeployDashboards: false}
nodeExporter: {enabled: false}
kubeStateMetrics: {enabled: false}
crds: {enabled: false}
prometheusOperator:
  admissionWebhooks: {failurePolicy: IgnoreOnInstallOnly, caBundle: CERTIFICATE, patch: {enabled: false}}
prometheus: {prometheusSpec: {resources: {requests: {memory: 50Mi}}}}
`

// TestStackChart follows docs/switching.md with the chart kube-prometheus-stack, there and back. A stand-in with the
// containers of the reference is the operator before and afterwards. Pods of Prometheus and Alertmanager keep running,
// changes arrive, and the webhooks answer. The test is not parallel because the webhooks apply to the whole cluster.
func TestStackChart(t *testing.T) {
	long(t)
	chart := stackChart(t)
	n := start(t)
	n.loadStackChartImages(t)
	r := n.release(t, "kps", "e2e-stack")
	s := space{n, r.namespace, ""}
	values := func(name, text string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "--values=" + file
	}
	n.kubectl(t, "create", "namespace", s.name)
	mine := values("mine.yaml", strings.ReplaceAll(stackValues, "CERTIFICATE", s.stackCertificate(t)))
	switched := values("switched.yaml", documented(t, "switching.md", "# values.yaml\nprometheusOperator:"))
	back := values("back.yaml", documented(t, "switching.md", "# back.yaml\n"))

	r.must(t, "install", r.name, chart, mine, "--wait", "--timeout=4m")
	pods := s.stackReady(t)
	for i, step := range []struct {
		name, image string
		args        []string
	}{
		{"the reference", referenceImage + ":" + referenceTag, nil},
		{"switched", "registry.example/firekeeper/operator:" + imageTag(t), []string{"upgrade", r.name, chart, mine, switched}},
		{"back", referenceImage + ":" + referenceTag, []string{"upgrade", r.name, chart, mine, back}},
		{"switched again, by a rollback", "registry.example/firekeeper/operator:" + imageTag(t), []string{"rollback", r.name, "2"}},
	} {
		t.Run(step.name, func(t *testing.T) {
			if step.args != nil {
				r.must(t, append(step.args, "--wait", "--timeout=4m")...)
			}
			s.in(t, "rollout", "status", "deployment/"+stackOperator, "--timeout=2m")
			if image := s.in(t, "get", "deployment", stackOperator, "-o", "jsonpath={.spec.template.spec.containers[0].image}"); image != step.image {
				t.Errorf("the operator is %s, want %s", image, step.image)
			}
			s.stackWorks(t, i)
			if diff := cmp.Diff(identities(pods), identities(s.stackReady(t))); diff != "" {
				t.Errorf("pods: was -, is +\n%s", diff)
			}
		})
	}
}

// stackWorks makes a change that the operator has to deliver, and one that the webhook has to refuse, and waits until
// Prometheus scrapes the operator over HTTPS.
func (s space) stackWorks(t *testing.T, i int) {
	t.Helper()
	expr := fmt.Sprintf("vector(%d)", 2000+i)
	until(t, "the webhook accepts a rule", patience, func(ctx context.Context) (bool, error) {
		out, err := s.KubectlInput(ctx, []byte(strings.ReplaceAll(stackChange, "EXPR", expr)), "apply", "-n", s.name, "-f", "-")
		return err == nil, errors.Join(err, errors.New(string(out)))
	})
	if out, err := s.KubectlInput(t.Context(), []byte(wrongRule), "apply", "-n", s.name, "-f", "-"); err == nil || !strings.Contains(err.Error()+string(out), "expr") {
		t.Errorf("a wrong rule: %v\n%s", err, out)
	}
	s.runs(t, expr, "", stackPods[1])
	took := until(t, "the operator is scraped", patience, func(ctx context.Context) (bool, error) {
		address, err := s.Kubectl(ctx, "-n", s.name, "get", "pods", "-l", "app=kube-prometheus-stack-operator", "-o", "jsonpath={.items[*].status.podIP}")
		if err != nil {
			return false, err
		}
		targets, err := s.server(stackPods[1], "http").Targets(ctx)
		for _, target := range targets {
			if strings.HasPrefix(target.ScrapePool, "serviceMonitor/"+s.name+"/"+stackOperator+"/") && target.Health == "up" &&
				strings.HasPrefix(target.ScrapeURL, "https://"+string(address)+":") {
				return true, nil
			}
		}
		return false, errors.Join(err, fmt.Errorf("no such target among %d", len(targets)))
	})
	t.Logf("the operator is scraped after %s", took)
	for _, object := range []string{"prometheus/kps-kube-prometheus-stack-prometheus", "alertmanager/kps-kube-prometheus-stack-alertmanager"} {
		s.in(t, "wait", "--for=condition=Reconciled", object, "--timeout=2m")
		s.in(t, "wait", "--for=condition=Available", object, "--timeout=2m")
	}
}

// stackReady waits until the pods of the release are ready and returns those of Prometheus and Alertmanager.
func (s space) stackReady(t *testing.T) []corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	until(t, "pods of the stack", 2*patience, func(ctx context.Context) (bool, error) {
		list, err := s.kube.CoreV1().Pods(s.name).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=prometheus-operator"})
		if err != nil {
			return false, err
		}
		pods = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return !isReady(p) })
		slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		var names []string
		for _, p := range pods {
			names = append(names, p.Name)
		}
		return slices.Equal(names, stackPods), fmt.Errorf("ready are %q", names)
	})
	return pods
}

// stackCertificate creates the Secret in which the chart expects the certificate of the webhooks, and returns its CA in
// base64.
func (s space) stackCertificate(t *testing.T) string {
	t.Helper()
	cert, key := selfSigned(t, time.Now().Add(24*time.Hour), stackOperator, stackOperator+"."+s.name+".svc") // for scrapes, and for the API server
	_, err := s.kube.CoreV1().Secrets(s.name).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "kps-kube-prometheus-stack-admission"},
		Data:       map[string][]byte{"ca": cert, "cert": cert, "key": key},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(cert)
}

// loadStackChartImages loads the images of the release: our operator under the name on the page, and as stand-in for the
// reference, which is this operator with its containers.
func (n node) loadStackChartImages(t *testing.T) {
	t.Helper()
	standIn := filepath.Join(t.TempDir(), "Dockerfile")
	text, err := os.ReadFile(filepath.Join(root(), "Dockerfile.operator"))
	if err == nil {
		const entry = `ENTRYPOINT ["/bin/operator"]`
		if !strings.Contains(string(text), entry) {
			t.Fatalf("Dockerfile.operator has no %s", entry)
		}
		err = os.WriteFile(standIn, []byte(strings.Replace(string(text), entry, `ENTRYPOINT ["/bin/operator", "--reloader-layout=single"]`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range []cluster.Image{
		{Name: referenceImage + ":" + referenceTag, Dockerfile: standIn},
		{Name: "registry.example/firekeeper/operator:" + imageTag(t), Dockerfile: filepath.Join(root(), "Dockerfile.operator")},
		{Name: referenceReload + ":" + referenceTag, Dockerfile: filepath.Join(root(), "Dockerfile.reloader"), Args: map[string]string{"RELOADER": "config-reloader"}},
	} {
		image.Context = root()
		if err := n.LoadImage(t.Context(), image); err != nil {
			t.Fatal(err)
		}
	}
	for image, programs := range map[string][]string{
		"quay.io/prometheus/prometheus:v3.14.0-distroless": {"prometheus", "promtool"},
		"quay.io/prometheus/alertmanager:v0.34.0":          {"alertmanager", "amtool"},
	} {
		if err := n.LoadPrograms(t.Context(), image, programs...); err != nil {
			t.Fatal(err)
		}
	}
}

// stackChart returns the folder of the public chart kube-prometheus-stack.
func stackChart(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(filepath.Dir(realManifests(t))), "real", "kube-prometheus-stack", "chart")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the chart kube-prometheus-stack is not at %s", dir)
	}
	return dir
}

// stackChange is a rule that Prometheus selects by the label of the release.
const stackChange = `
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: change, labels: {release: kps}}
spec: {groups: [{name: change, rules: [{record: "e2e:change", expr: EXPR}]}]}
`
