package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// largeRule creates a PrometheusRule that fills more than half of a ConfigMap, with a comment: a server sends all else of
// it back each time it lists its rules.
func (s space) largeRule(t *testing.T, name string) {
	t.Helper()
	text := fmt.Sprintf(`{apiVersion: monitoring.coreos.com/v1, kind: PrometheusRule, metadata: {name: %s, namespace: %s},
spec: {groups: [{name: %s, rules: [{alert: A, expr: %q}]}]}}`, name, s.name, name, "vector(1) == 0 # "+strings.Repeat("x", 300_000))
	if out, err := s.KubectlInput(t.Context(), []byte(text), "create", "-f", "-"); err != nil {
		t.Fatal(err, string(out))
	}
}

// hasGroups waits until the servers run the rule groups.
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

// Fields: ruleSelector. Rules grow beyond one ConfigMap, and beyond three, without a change of the pods. No rule is
// ever missing, also when they shrink again.
func TestRulesGrowAndShrink(t *testing.T) {
	s, _ := scenario(t, "rules", "replicas: 2", webPods...)
	pods, err := s.pods(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	before, set := identities(pods), s.statefulSet(t, "prometheus-web")
	g := s.guard(t, webGroups, s.webJobs(), webPods...)
	groups := slices.Clone(webGroups)
	for i := range 8 {
		name := fmt.Sprintf("large-%d", i)
		s.largeRule(t, name)
		groups = append(groups, name)
	}
	s.hasGroups(t, groups, webPods...)
	if n := s.ruleConfigMaps(t); n != 3 {
		t.Errorf("%d ConfigMaps, want 3", n)
	}
	s.in(t, "delete", "prometheusrules", "--field-selector=metadata.name!=app")
	for _, pod := range webPods {
		until(t, "the rules of "+pod+" to shrink", patience, func(ctx context.Context) (bool, error) {
			loaded, err := s.server(pod, "http").RuleGroups(ctx)
			return len(loaded) == len(webGroups), fmt.Errorf("%d groups (%v)", len(loaded), err)
		})
	}
	g.end(t)
	s.unchanged(t, before)
	if now := s.statefulSet(t, "prometheus-web"); now.Generation != set.Generation {
		t.Errorf("the StatefulSet was changed: generation %d, was %d", now.Generation, set.Generation)
	}
}

// In the layout of the reference, a fourth ConfigMap causes one rolling update.
func TestRulesGrowInSingleLayout(t *testing.T) {
	long(t)
	n := start(t)
	t.Parallel()
	s := n.space(t, "rules-single")
	s.operatorOf(t, "--config-reloader-cpu-limit=0", "--reloader-layout=single")
	s.web(t, "replicas: 2")
	pods := s.rolledOut(t, "web", webPods...)
	before, set := identities(pods), s.statefulSet(t, "prometheus-web")
	g := s.guard(t, webGroups, s.webJobs(), webPods...)
	groups := slices.Clone(webGroups)
	for i := 0; s.ruleConfigMaps(t) < 4; i++ {
		if i > 8 {
			t.Fatal("eight large rules fit into three ConfigMaps")
		}
		s.unchanged(t, before)
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
	g.end(t)
}

// A configuration grows beyond one Secret and shrinks again without a change of the pods.
func TestConfigurationOutgrowsASecret(t *testing.T) {
	long(t)
	s, _ := scenario(t, "large-config", "replicas: 1", "prometheus-web-0")
	pods, err := s.pods(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	const jobs = 20
	var all strings.Builder
	for i := range jobs {
		fmt.Fprintf(&all, "---\n{apiVersion: monitoring.coreos.com/v1alpha1, kind: ScrapeConfig, metadata: {name: large-%d, namespace: %s, labels: {large: \"\"}},\n"+
			"spec: {scrapeInterval: 1h, staticConfigs: [{targets: [\"t%d:1\"], labels: {", i, s.name, i)
		for l := range 15 { // incompressible data
			fmt.Fprintf(&all, "l%d: %s, ", l, randomText(10_000))
		}
		all.WriteString("}}]}}\n")
	}
	if out, err := s.KubectlInput(t.Context(), []byte(all.String()), "create", "-f", "-"); err != nil {
		t.Fatal(err, string(out))
	}
	for i := range jobs {
		s.runs(t, "sum(up)", fmt.Sprintf("job_name: scrapeConfig/%s/large-%d\n", s.name, i), "prometheus-web-0")
	}
	parts := func() string {
		return s.in(t, "get", "secrets", "-l", "managed-by=prometheus-operator", "-o", "name")
	}
	if got := parts(); !strings.Contains(got, "prometheus-web-config-part-") {
		t.Errorf("the configuration is in one Secret: %s", got)
	}
	s.in(t, "delete", "scrapeconfigs", "-l", "large")
	until(t, "one Secret", patience, func(context.Context) (bool, error) {
		got := parts()
		return !strings.Contains(got, "-part-"), fmt.Errorf("there are %s", got)
	})
	until(t, "a small configuration", patience, func(ctx context.Context) (bool, error) {
		config, err := s.server("prometheus-web-0", "http").Config(ctx)
		return err == nil && !strings.Contains(config, "/large-") && strings.Contains(config, s.webJobs()[1]), err
	})
	s.unchanged(t, identities(pods))
}

// randomText returns text that gzip compresses to more than half of its size.
func randomText(length int) string {
	out := "x"
	for len(out) < length {
		out += rand.Text()
	}
	return out
}

// hasRuleFile reports whether a rule ConfigMap contains the file of a PrometheusRule.
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
