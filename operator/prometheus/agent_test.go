package prometheus

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
)

// agentScene is an agent that selects everything beside it.
type agentScene struct {
	a            *v1alpha1.PrometheusAgent
	statefulSets []*appsv1.StatefulSet
	daemonSet    *appsv1.DaemonSet
	closed       bool // the feature gate
}

func newAgentScene() *agentScene {
	s := &agentScene{a: &v1alpha1.PrometheusAgent{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "a", Generation: 1}}}
	s.a.Spec.ServiceMonitorSelector = &metav1.LabelSelector{}
	return s
}

func (s *agentScene) plan() (Plan, error) {
	services := monitors(1)
	services[0].Namespace = "team"
	cluster := Cluster{
		NamespaceLabels: func(string) (labels.Set, bool) { return nil, true },
		ServiceMonitors: slices.Values(services),
		PodMonitors:     slices.Values[[]*v1.PodMonitor](nil),
		PrometheusRules: slices.Values([]*v1.PrometheusRule{ruleOf("r", "up(")}),
		References:      &assets.Static{},
		StatefulSets:    func(string, string) []*appsv1.StatefulSet { return s.statefulSets },
		DaemonSet: func(_, name string) (*appsv1.DaemonSet, bool) {
			return s.daemonSet, s.daemonSet != nil && s.daemonSet.Name == name
		},
		Secrets: func(string) []*corev1.Secret { return nil },
	}
	opts := Options{Capabilities: promconfig.Capabilities{AgentDaemonSet: !s.closed}, Workload: benchConfig}
	in, err := GatherFrom(cluster, ForAgent(s.a), opts, time.Time{})
	if err != nil {
		return Plan{}, err
	}
	return Desired(ForAgent(s.a), in, opts.Workload, NewDocuments(nil, 0))
}

func TestDesiredOfAgents(t *testing.T) {
	set := func(name string) *appsv1.StatefulSet {
		return &appsv1.StatefulSet{ObjectMeta: ownedMeta(name, "a")}
	}
	onEveryNode := func(s *agentScene) {
		s.a.Spec.Mode, s.a.Spec.ServiceMonitorSelector = v1alpha1.DaemonSetPrometheusAgentMode, nil
	}
	node := &appsv1.DaemonSet{ObjectMeta: ownedMeta("prom-agent-web", "a")}
	going := node.DeepCopy()
	going.DeletionTimestamp = new(metav1.Now())
	for name, tc := range map[string]struct {
		change func(*agentScene)
		want   []string // of the workload
	}{
		"one shard": {func(*agentScene) {}, []string{"put Service prometheus-agent-operated", "put StatefulSet prom-agent-web"}},
		"a Service of the user's": {func(s *agentScene) { s.a.Spec.ServiceName = "mine" },
			[]string{"put StatefulSet prom-agent-web"}},
		"shards that are too many go at once": {func(s *agentScene) {
			s.statefulSets = []*appsv1.StatefulSet{set("prom-agent-web"), set("prom-agent-web-shard-1")}
		}, []string{"put Service prometheus-agent-operated", "put StatefulSet prom-agent-web", "remove StatefulSet prom-agent-web-shard-1"}},
		"on every node": {onEveryNode, []string{"put DaemonSet prom-agent-web", "release Service prometheus-agent-operated"}},
		"on every node from now on": {func(s *agentScene) {
			onEveryNode(s)
			s.statefulSets = []*appsv1.StatefulSet{set("prom-agent-web-shard-1"), set("prom-agent-web")}
			s.daemonSet = node
		}, []string{"put DaemonSet prom-agent-web", "remove StatefulSet prom-agent-web", "remove StatefulSet prom-agent-web-shard-1", "release Service prometheus-agent-operated"}},
		"not on every node any more": {func(s *agentScene) { s.daemonSet = node },
			[]string{"put Service prometheus-agent-operated", "put StatefulSet prom-agent-web", "remove DaemonSet prom-agent-web"}},
		"what goes already is left alone": {func(s *agentScene) { s.daemonSet = going },
			[]string{"put Service prometheus-agent-operated", "put StatefulSet prom-agent-web"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAgentScene()
			tc.change(s)
			plan, err := s.plan()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"put Secret prom-agent-web", "put Secret prom-agent-web-tls-assets-0", "put Secret prom-agent-web-web-config"}, steps(plan.Content)); diff != "" {
				t.Errorf("content %s", diff)
			}
			if diff := cmp.Diff(tc.want, steps(plan.Workload)); diff != "" {
				t.Errorf("workload %s", diff)
			}
		})
	}
}

func TestAgentNeedsTheGate(t *testing.T) {
	s := newAgentScene()
	s.closed, s.a.Spec.Mode = true, v1alpha1.DaemonSetPrometheusAgentMode
	if _, err := s.plan(); err == nil || !strings.Contains(err.Error(), "feature gate PrometheusAgentDaemonSet") {
		t.Errorf("got %v", err)
	}
}

func TestStatusOfNodes(t *testing.T) {
	pod := func(name string, ready bool) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		status := corev1.ConditionFalse
		if ready {
			status = corev1.ConditionTrue
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, Message: "it starts"}}
		return p
	}
	set := func(generation, observed int64, desired, updated int32) *appsv1.DaemonSet {
		return &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Generation: generation}, Status: appsv1.DaemonSetStatus{
			ObservedGeneration: observed, DesiredNumberScheduled: desired, UpdatedNumberScheduled: updated,
		}}
	}
	for name, tc := range map[string]struct {
		nodes Nodes
		want  v1.ShardStatus
		is    v1.ConditionStatus
		why   string
		text  string
	}{
		"there is none": {Nodes{Key: "team/prom-agent-web"}, v1.ShardStatus{ShardID: "0"},
			v1.ConditionFalse, "DaemonSetNotFound", "daemonset team/prom-agent-web not found"},
		"just made": {Nodes{DaemonSet: set(1, 0, 0, 0)}, v1.ShardStatus{ShardID: "0"}, v1.ConditionFalse, "NoPodReady", ""},
		"no node":   {Nodes{DaemonSet: set(1, 1, 0, 0)}, v1.ShardStatus{ShardID: "0"}, v1.ConditionTrue, "", ""},
		"all ready": {Nodes{DaemonSet: set(1, 1, 2, 2), Pods: []*corev1.Pod{pod("a", true), pod("b", true)}},
			v1.ShardStatus{ShardID: "0", Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, v1.ConditionTrue, "", ""},
		"one starts": {Nodes{DaemonSet: set(1, 1, 2, 2), Pods: []*corev1.Pod{pod("a", true), pod("b", false)}},
			v1.ShardStatus{ShardID: "0", Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1, UnavailableReplicas: 1},
			v1.ConditionDegraded, "SomePodsNotReady", "pod b: it starts"},
		"the spec is newer than the numbers": {Nodes{DaemonSet: set(2, 1, 1, 1), Pods: []*corev1.Pod{pod("a", true)}},
			v1.ShardStatus{ShardID: "0", Replicas: 1, AvailableReplicas: 1}, v1.ConditionDegraded, "SomePodsNotReady", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgentScene().a
			a.Spec.Mode = v1alpha1.DaemonSetPrometheusAgentMode
			got := Status(StatusInputs{Owner: ForAgent(a), Nodes: &tc.nodes, Known: true, Now: now})
			if diff := cmp.Diff([]v1.ShardStatus{tc.want}, got.ShardStatuses); diff != "" {
				t.Error(diff)
			}
			if c := got.Conditions[0]; c.Status != tc.is || c.Reason != tc.why || c.Message != tc.text {
				t.Errorf("Available %s %q %q", c.Status, c.Reason, c.Message)
			}
			a.Status = got
			if asWanted(ForAgent(a)) != (tc.is == v1.ConditionTrue) {
				t.Errorf("looked at again: %t", !asWanted(ForAgent(a)))
			}
		})
	}
}

// TestOwnerOfPod: a Prometheus and an agent may have the same name.
func TestOwnerOfPod(t *testing.T) {
	for workload, want := range map[string][2]bool{ // of servers, of agents
		"prometheus-web": {true, false}, "prometheus-web-shard-1": {true, false}, "prom-agent-web": {false, true}, "alertmanager-web": {false, false}, "": {false, false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Labels: map[string]string{"operator.prometheus.io/name": "web"}}}
		if workload != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: workload}}
		}
		for i, kind := range []*Kind{Servers, Agents} {
			key, ok := kind.ownerOfPod(pod)
			if ok != want[i] || ok && key.String() != "team/web" {
				t.Errorf("%s, pod of %q: %s, %t", kind.Name, workload, key, ok)
			}
		}
	}
}

func TestOutcomeOfAgents(t *testing.T) {
	out := outcome(ForAgent(newAgentScene().a), Inputs{Counts: map[string]controller.Selection{}}, Plan{}, false)
	if out.Reason != "NoSelectedResources" || strings.Contains(out.Message, "PrometheusRule") {
		t.Errorf("got %+v", out)
	}
}
