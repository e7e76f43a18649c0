package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

// space is the namespace of one test. Objects in it that have the annotation operator.prometheus.io/controller-id: ID
// are managed by the operator of the test, which uses the name of the namespace as its ID.
type space struct {
	node
	name string
	id   string // replaces ID in manifests
}

// space creates a namespace. It is deleted at the end of the test; if the test failed, its state is printed first.
func (n node) space(t *testing.T, name string) space {
	t.Helper()
	s := space{n, "e2e-" + name, "e2e-" + name}
	until(t, "namespace "+s.name, patience, func(ctx context.Context) (bool, error) { // that of an earlier run may still be terminating
		_, err := n.Kubectl(ctx, "create", "namespace", s.name)
		return err == nil, err
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if t.Failed() {
			s.describe(ctx, t)
		}
		if _, err := n.Kubectl(ctx, "delete", "namespace", s.name, "--wait=false"); err != nil {
			t.Error(err)
		}
	})
	return s
}

// describe prints the state of the namespace for debugging.
func (s space) describe(ctx context.Context, t *testing.T) {
	for _, args := range [][]string{
		{"get", "prometheuses,thanosrulers,alertmanagers,statefulsets,pods,pvc", "-o", "wide"},
		{"get", "prometheuses,thanosrulers,alertmanagers", "-o", `jsonpath={range .items[*]}{.metadata.name}{"\n"}{range .status.conditions[*]}{.type}={.status} {.reason} {.message}{"\n"}{end}{end}`},
		{"get", "events", "--sort-by=.lastTimestamp", "-o", `custom-columns=LAST:.lastTimestamp,TYPE:.type,REASON:.reason,OBJECT:.involvedObject.name,MESSAGE:.message`},
		{"logs", "-l", "app.kubernetes.io/managed-by=prometheus-operator", "--all-containers", "--prefix", "--tail=15"},
	} {
		out, err := s.Kubectl(ctx, append([]string{"-n", s.name}, args...)...)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Logf("kubectl %s (error: %v)\n%s", strings.Join(args[:2], " "), err, strings.Join(lines[max(0, len(lines)-80):], "\n"))
	}
}

// fill replaces NAMESPACE, ID and further placeholders in manifests.
func (s space) fill(manifests string, more ...string) string {
	return strings.NewReplacer(append([]string{"NAMESPACE", s.name, "ID", s.id}, more...)...).Replace(manifests)
}

// apply applies manifests after replacing their placeholders.
func (s space) apply(t *testing.T, manifests string) {
	t.Helper()
	if out, err := s.KubectlInput(t.Context(), []byte(s.fill(manifests)), "apply", "-n", s.name, "-f", "-"); err != nil {
		t.Fatal(err, string(out))
	}
}

// in runs kubectl in the namespace.
func (s space) in(t *testing.T, args ...string) string {
	t.Helper()
	return s.kubectl(t, append([]string{"-n", s.name}, args...)...)
}

// patch changes a Prometheus with a merge patch.
func (s space) patch(t *testing.T, prometheus, patch string) {
	t.Helper()
	s.in(t, "patch", "prometheus", prometheus, "--type=merge", "-p", patch)
}

// manifests reads a file of testdata.
func manifests(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// labelOf returns the selector of the pods and StatefulSets of a Prometheus.
func labelOf(prometheus string) string { return "operator.prometheus.io/name=" + prometheus }

// pods returns the pods of a Prometheus that are not terminating, sorted by name.
func (s space) pods(ctx context.Context, prometheus string) ([]corev1.Pod, error) {
	return s.podsWith(ctx, labelOf(prometheus))
}

// podsWith returns the pods with a label that are not terminating, sorted by name.
func (s space) podsWith(ctx context.Context, label string) ([]corev1.Pod, error) {
	list, err := s.kube.CoreV1().Pods(s.name).List(ctx, metav1.ListOptions{LabelSelector: label})
	if err != nil {
		return nil, err
	}
	pods := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods, nil
}

// rolledOut waits until exactly the named pods of a Prometheus are ready and have the current revision of their
// StatefulSets, and returns them.
func (s space) rolledOut(t *testing.T, prometheus string, names ...string) []corev1.Pod {
	t.Helper()
	return s.rolledOutWith(t, labelOf(prometheus), names...)
}

// rolledOutWith is rolledOut for the pods with a label.
func (s space) rolledOutWith(t *testing.T, label string, names ...string) []corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	took := until(t, "pods "+label+" in "+s.name, 2*patience, func(ctx context.Context) (bool, error) {
		err := s.settled(ctx, label, len(names))
		if err != nil {
			return false, err
		}
		if pods, err = s.podsWith(ctx, label); err != nil {
			return false, err
		}
		var ready []string
		for _, p := range pods {
			if isReady(p) {
				ready = append(ready, p.Name)
			}
		}
		if !slices.Equal(ready, names) {
			return false, fmt.Errorf("ready are %q, want %q", ready, names)
		}
		return true, nil
	})
	t.Logf("%s, %s: %d pods ready after %s", s.name, label, len(names), took.Round(100*time.Millisecond))
	return pods
}

// settled returns an error unless the rollouts of the StatefulSets with a label are complete.
func (s space) settled(ctx context.Context, label string, replicas int) error {
	list, err := s.kube.AppsV1().StatefulSets(s.name).List(ctx, metav1.ListOptions{LabelSelector: label})
	if err != nil {
		return err
	}
	total := 0
	for _, sts := range list.Items {
		total += int(sts.Status.Replicas)
		switch st := sts.Status; {
		case sts.DeletionTimestamp != nil:
			return fmt.Errorf("%s is being deleted", sts.Name)
		case st.ObservedGeneration != sts.Generation:
			return fmt.Errorf("%s is not observed yet", sts.Name)
		case st.Replicas != *sts.Spec.Replicas, st.ReadyReplicas != st.Replicas, st.UpdatedReplicas != st.Replicas:
			return fmt.Errorf("%s has %d pods, %d ready, %d updated; want %d", sts.Name, st.Replicas, st.ReadyReplicas, st.UpdatedReplicas, *sts.Spec.Replicas)
		}
	}
	if total != replicas {
		return fmt.Errorf("%d pods in all StatefulSets, want %d", total, replicas)
	}
	return nil
}

func isReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// identities returns values that change when a pod is recreated or a container restarts.
func identities(pods []corev1.Pod) map[string]string {
	out := map[string]string{}
	for _, p := range pods {
		restarts := int32(0)
		for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			restarts += c.RestartCount
		}
		out[p.Name] = fmt.Sprintf("%s, %d restarts", p.UID, restarts)
	}
	return out
}

// server returns the Prometheus in a pod. scheme is http or https.
func (s space) server(pod, scheme string) *live.Prometheus {
	if scheme == "https" {
		pod = "https:" + pod
	}
	return s.proxy.Prometheus(s.name, pod, 9090)
}

// runs waits until the servers of the pods run a rule with the expression and a configuration that contains the text.
// Empty arguments are ignored.
func (s space) runs(t *testing.T, expr, config string, pods ...string) {
	t.Helper()
	for _, pod := range pods {
		until(t, fmt.Sprintf("rule %q and %q in %s/%s", expr, config, s.name, pod), patience, func(ctx context.Context) (bool, error) {
			return runs(ctx, s.server(pod, "http"), expr, config)
		})
	}
}

func runs(ctx context.Context, server *live.Prometheus, expr, config string) (bool, error) {
	if expr != "" {
		if ok, err := server.HasRule(ctx, expr); !ok {
			return false, errors.Join(errors.New("the rule is not there"), err)
		}
	}
	text, err := server.Config(ctx)
	if err == nil && !strings.Contains(text, config) {
		err = errors.New("the configuration is another one")
	}
	return err == nil, err
}

// statefulSet gets a StatefulSet.
func (s space) statefulSet(t *testing.T, name string) *appsv1.StatefulSet {
	t.Helper()
	sts, err := s.kube.AppsV1().StatefulSets(s.name).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return sts
}
