package prometheus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// agentScene is an agent that selects all objects in its cluster.
type agentScene struct {
	a            *v1alpha1.PrometheusAgent
	statefulSets []*appsv1.StatefulSet
	daemonSet    *appsv1.DaemonSet
	closed       bool // the feature gate is disabled
}

func newAgentScene() *agentScene {
	s := &agentScene{a: &v1alpha1.PrometheusAgent{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "a", Generation: 1}}}
	s.a.Spec.ServiceMonitorSelector = &metav1.LabelSelector{}
	return s
}

func (s *agentScene) plan() (Plan, error) {
	services := serviceMonitors(1)
	services[0].Namespace = "team"
	cluster := engine.Cluster{
		NamespaceLabels: func(string) (labels.Set, bool) { return nil, true },
		Objects:         (&selectable{services: services, rules: []*v1.PrometheusRule{ruleOf("r", "up(")}}).objects,
		References:      &assets.Static{},
		Live:            engine.Live{StatefulSets: byName(s.statefulSets), DaemonSet: s.daemonSet},
	}.Offline()
	opts := Options{Capabilities: promconfig.Capabilities{AgentDaemonSet: !s.closed}, Workload: benchConfig}
	in, err := gatherFor(opts, forAgent(s.a), cluster)
	if err != nil {
		return Plan{}, err
	}
	return in.Plan()
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
		want   []string // of Plan.Workload
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

// An agent with a version that has no agent mode is written, and reported.
func TestVersionWithoutAgentMode(t *testing.T) {
	for version, want := range map[string]string{"v2.31.2": engine.ReasonVersionTooOld, "2.32.0-beta.0": "", "v2.32.0": "", "": ""} {
		s := newAgentScene()
		s.a.Spec.Version = version
		plan, err := s.plan()
		if err != nil || plan.Reason != want || (len(plan.Warnings) > 0) != (want != "") || !strings.Contains(plan.Message, "2.32.0 or newer") && want != "" {
			t.Errorf("%s: %s: %s, %v, %v", version, plan.Reason, plan.Message, plan.Warnings, err)
		}
	}
}
