package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// largeRule is a rule object that fills more than half of a ConfigMap.
func (s space) largeRule(t *testing.T, name string) {
	t.Helper()
	text := fmt.Sprintf(`{apiVersion: monitoring.coreos.com/v1, kind: PrometheusRule, metadata: {name: %s, namespace: %s},
spec: {groups: [{name: %s, rules: [{alert: A, expr: vector(1), annotations: {text: %q}}]}]}}`, name, s.name, name, strings.Repeat("x", 300_000))
	if out, err := s.KubectlInput(t.Context(), []byte(text), "create", "-f", "-"); err != nil {
		t.Fatal(err, string(out))
	}
}

// hasGroups waits until the servers run rule groups.
func (s space) hasGroups(t *testing.T, groups []string, pods ...string) {
	t.Helper()
	for _, pod := range pods {
		until(t, fmt.Sprintf("groups %q in %s/%s", groups, s.name, pod), patience, func(ctx context.Context) (bool, error) {
			g := guard{groups: groups}
			err := g.runsAll(ctx, s.server(pod, "http"))
			return err == nil, err
		})
	}
}

func (s space) ruleConfigMaps(t *testing.T) int {
	t.Helper()
	list, err := s.kube.CoreV1().ConfigMaps(s.name).List(t.Context(), metav1.ListOptions{LabelSelector: "prometheus-name=web"})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

// Fields: ruleSelector. Rules grow from one ConfigMap to three without a change of the pods; a fourth makes one
// rolling update; and no rule is ever missing, also when they shrink again.
func TestRulesGrowAndShrink(t *testing.T) {
	s, _ := scenario(t, "rules", "replicas: 2", webPods...)
	pods, err := s.pods(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	before, set := identities(pods), s.statefulSet(t, "prometheus-web")
	g := s.guard(t, webGroups, s.webJobs(), webPods...)
	groups := append([]string{}, webGroups...)
	for i, want := range []int{2, 2, 3} { // the first one leaves no room for a second
		name := fmt.Sprintf("large-%d", i)
		s.largeRule(t, name)
		groups = append(groups, name)
		s.hasGroups(t, groups, webPods...)
		if got := s.ruleConfigMaps(t); got > want {
			t.Errorf("%d ConfigMaps after %s, want at most %d", got, name, want)
		}
	}
	s.unchanged(t, before)
	if now := s.statefulSet(t, "prometheus-web"); now.Generation != set.Generation {
		t.Errorf("the StatefulSet was changed: generation %d, was %d", now.Generation, set.Generation)
	}

	for i := 3; s.ruleConfigMaps(t) < 4; i++ {
		if i > 8 {
			t.Fatal("eight large rules fit into three ConfigMaps")
		}
		name := fmt.Sprintf("large-%d", i)
		s.largeRule(t, name)
		groups = append(groups, name)
		until(t, "rule file of "+name, patience, func(context.Context) (bool, error) { return s.hasRuleFile(t, name), nil })
	}
	until(t, "another volume", patience, func(context.Context) (bool, error) {
		now := s.statefulSet(t, "prometheus-web")
		return now.Generation > set.Generation && now.Status.ObservedGeneration == now.Generation, nil
	})
	s.rolledOut(t, "web", webPods...)
	s.hasGroups(t, groups, webPods...)

	s.in(t, "delete", "prometheusrules", "--field-selector=metadata.name!=app")
	until(t, "fewer ConfigMaps", patience, func(context.Context) (bool, error) {
		n := s.ruleConfigMaps(t)
		return n < 4, fmt.Errorf("%d ConfigMaps", n)
	})
	s.rolledOut(t, "web", webPods...)
	s.hasGroups(t, webGroups, webPods...)
	g.end(t)
}

// hasRuleFile reports whether some rule ConfigMap has the file of a rule object.
func (s space) hasRuleFile(t *testing.T, rule string) bool {
	t.Helper()
	list, err := s.kube.CoreV1().ConfigMaps(s.name).List(t.Context(), metav1.ListOptions{LabelSelector: "prometheus-name=web"})
	if err != nil {
		t.Fatal(err)
	}
	for _, cm := range list.Items {
		for file := range cm.Data {
			if strings.HasPrefix(file, s.name+"-"+rule+"-") {
				return true
			}
		}
	}
	return false
}
