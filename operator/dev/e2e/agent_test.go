package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fields of PrometheusAgent: mode, remoteWrite, podMonitorSelector, volumes, volumeMounts; of Prometheus:
// enableRemoteWriteReceiver. An agent writes to a server, first from a StatefulSet, then from every node.
func TestAgent(t *testing.T) {
	n := start(t)
	t.Parallel()
	s := n.space(t, "agent")
	s.operatorOf(t, "--config-reloader-cpu-limit=0", "--feature-gates=PrometheusAgentDaemonSet=true")
	s.web(t, "enableRemoteWriteReceiver: true")
	s.apply(t, manifests(t, "agent.yaml"))
	s.rolledOut(t, "web", "prometheus-web-0")

	s.rolledOut(t, "edge", "prom-agent-edge-0")
	s.agentWorks(t, "prom-agent-edge-0", "e2e_stateful")
	s.agentAvailable(t)

	s.in(t, "patch", "prometheusagent", "edge", "--type=merge", "-p", `{"spec":{"mode":"DaemonSet","shards":null,"replicas":null,
		"volumeMounts":[{"name":"data","mountPath":"/prometheus"}]}}`)
	pod := s.onEveryNode(t)
	if pod.Labels["operator.prometheus.io/shard"] != "" {
		t.Errorf("the pod has a shard: %v", pod.Labels)
	}
	s.agentWorks(t, pod.Name, "e2e_node")
	config, err := s.server(pod.Name, "http").Config(t.Context())
	if err != nil || !strings.Contains(config, "field: spec.nodeName="+pod.Spec.NodeName) {
		t.Errorf("it looks for pods on all nodes (%v)\n%s", err, config)
	}
	s.agentAvailable(t)
	until(t, "end of the StatefulSet", patience, func(ctx context.Context) (bool, error) {
		left := s.in(t, "get", "statefulsets,services", "-l", "managed-by=prometheus-operator", "-o", "jsonpath={.items[*].metadata.name}")
		return left == "prometheus-web prometheus-operated" || left == "prometheus-operated prometheus-web", fmt.Errorf("left are %s", left)
	})

	s.in(t, "delete", "prometheusagent", "edge")
	until(t, "end of the agent", patience, func(context.Context) (bool, error) {
		left := s.in(t, "get", "secrets,configmaps,daemonsets,pods", "-l", "app.kubernetes.io/managed-by=prometheus-operator", "-o", "name")
		return !strings.Contains(left, "prom-agent-edge"), fmt.Errorf("left are %s", left)
	})
	s.says(t, "web", conditions, "Available=True Reconciled=True")
}

// agentWorks changes the monitor and waits until the agent has loaded it and scrapes, and the server has received the
// samples.
func (s space) agentWorks(t *testing.T, pod, label string) {
	t.Helper()
	s.in(t, "patch", "podmonitor", "agents", "--type=merge", "-p",
		fmt.Sprintf(`{"spec":{"podMetricsEndpoints":[{"port":"web","interval":"1s","relabelings":[{"targetLabel":%q,"replacement":"yes"}]}]}}`, label))
	s.runs(t, "", "target_label: "+label, pod)
	until(t, "samples of "+pod, patience, func(ctx context.Context) (bool, error) {
		series, err := s.server("prometheus-web-0", "http").Series(ctx, fmt.Sprintf(`up{pod=%q, %s="yes", job="%s/agents"} == 1`, pod, label, s.name))
		return series == 1, fmt.Errorf("%d series (%v)", series, err)
	})
}

func (s space) agentAvailable(t *testing.T) {
	t.Helper()
	until(t, "status of the agent", patience, func(context.Context) (bool, error) {
		got := s.in(t, "get", "prometheusagent", "edge", "-o", "jsonpath="+conditions+`{.status.availableReplicas}`)
		return got == "Available=True Reconciled=True 1", fmt.Errorf("it is %s", got)
	})
}

// onEveryNode waits until the single pod of the DaemonSet is ready.
func (s space) onEveryNode(t *testing.T) corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	until(t, "pod on the node", patience, func(ctx context.Context) (bool, error) {
		set, err := s.kube.AppsV1().DaemonSets(s.name).Get(ctx, "prom-agent-edge", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		pods, err := s.pods(ctx, "edge")
		pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return !metav1.IsControlledBy(&p, set) })
		if err != nil || len(pods) != 1 || !isReady(pods[0]) {
			return false, fmt.Errorf("%d pods of the DaemonSet (%v)", len(pods), err)
		}
		pod = pods[0]
		return true, nil
	})
	return pod
}
