package lint

import (
	"strings"
	"testing"
)

// TestMissingLabel: a label that an object lacks is often in another place or misspelled.
func TestMissingLabel(t *testing.T) {
	const prometheus = anyPrometheus + "  serviceMonitorSelector: {matchLabels: {release: stack}}\n  podMonitorSelector: {matchLabels: {release: stack}}\n"
	const head = "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\n"
	const spec = "spec: {selector: {matchLabels: {app: web}}, endpoints: []}\n"
	for name, tc := range map[string]struct{ text, want string }{
		"nowhere":         {head + "metadata: {name: web, namespace: mon}\n" + spec, "but metadata.labels has no release: add it [not-selected]"},
		"in another case": {head + "metadata: {name: web, namespace: mon, labels: {Release: stack}}\n" + spec, "has no release: write release instead of Release, case matters"},
		"misspelled":      {head + "metadata: {name: web, namespace: mon, labels: {relaese: stack}}\n" + spec, "has no release: did you mean it by relaese? Otherwise add it"},
		"an annotation":   {head + "metadata: {name: web, namespace: mon, annotations: {release: stack}}\n" + spec, "it is in metadata.annotations, which selectors do not compare: move it"},
		"of the Services": {head + "metadata: {name: web, namespace: mon}\n" + strings.Replace(spec, "app: web", "app: web, release: stack", 1), "it is in spec.selector.matchLabels, which selects Services: move it"},
		"of the pods": {strings.Replace(head, "ServiceMonitor", "PodMonitor", 1) + "metadata: {name: web, namespace: mon}\nspec: {selector: {matchLabels: {release: stack}}, podMetricsEndpoints: []}\n",
			"it is in spec.selector.matchLabels, which selects pods: move it"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lines(t, prometheus+tc.text); !strings.Contains(got, tc.want) {
				t.Errorf("no %q in\n%s", tc.want, got)
			}
		})
	}
}

// TestRulesBesideAgents: agents evaluate no rules, so lint reports rules that nothing else can select.
func TestRulesBesideAgents(t *testing.T) {
	const agent = "apiVersion: monitoring.coreos.com/v1alpha1\nkind: PrometheusAgent\nmetadata: {name: edge, namespace: mon}\nspec: {serviceAccountName: p}\n"
	const rule = "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: web, namespace: app}\nspec: {groups: []}\n"
	const want = "in.yaml:6: note: PrometheusRule app/web: nothing among the manifests evaluates rules: PrometheusAgent mon/edge only scrapes and forwards; a Prometheus or a ThanosRuler with a spec.ruleSelector evaluates them [not-selected]"
	if got := lines(t, agent+rule); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if got := lines(t, agent+rule+"---\n"+anyPrometheus+"  ruleSelector: {}\n  ruleNamespaceSelector: {}\n"); strings.Contains(got, "not-selected") {
		t.Errorf("there is a Prometheus:\n%s", got)
	}
	if got := lines(t, rule); strings.Contains(got, "not-selected") {
		t.Errorf("there is no workload:\n%s", got)
	}
}

// TestMisplacedReference: a Secret that is written at another level is one error, without the
// consequences.
func TestMisplacedReference(t *testing.T) {
	for _, auth := range []string{"basicAuth: {username: {secretKeyRef: {name: s, key: k}}}", "basicAuth: {secretName: s}"} {
		got := lines(t, anyPrometheus+"  remoteWrite: [{url: 'http://a', "+auth+"}]\n")
		if !strings.Contains(got, "1 error, 0 warnings, 0 notes") || !strings.Contains(got, "unknown field: ") {
			t.Errorf("%s:\n%s", auth, got)
		}
	}
}

// TestOtherReference: a missing Secret is often a ConfigMap, or has almost the same name.
func TestOtherReference(t *testing.T) {
	const prometheus = selectsAll + "  additionalScrapeConfigs: {name: jobs, key: a.yaml}\n---\napiVersion: v1\n"
	for text, want := range map[string]string{
		"kind: ConfigMap\nmetadata: {name: jobs, namespace: mon}\n": `Secret "mon/jobs" does not exist among the manifests; there is a ConfigMap of this name, and this field refers to a Secret`,
		"kind: Secret\nmetadata: {name: job, namespace: mon}\n":     `Secret "mon/jobs" does not exist among the manifests (there is job: did you mean that?)`,
		"kind: Secret\nmetadata: {name: jobs, namespace: app}\n":    `(there is one in namespace app, but references are to namespace mon)`,
		"kind: Secret\nmetadata: {name: other, namespace: mon}\n":   `Secret "mon/jobs" does not exist among the manifests [missing-reference]`,
	} {
		if got := lines(t, prometheus+text); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	const tls = selectsAll + "  remoteWrite: [{url: 'https://a', tlsConfig: {ca: {secret: {name: ca, key: a}}}}]\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca, namespace: mon}\n"
	if got := lines(t, tls); !strings.Contains(got, `Secret "mon/ca" does not exist among the manifests; there is a ConfigMap of this name: write configMap instead of secret`) {
		t.Error(got)
	}
}
