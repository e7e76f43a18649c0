package lint

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// fleet returns workloads with the same selectors, and monitors and rules with faults. differ is a format for an annotation
// of each workload.
func fleet(workloads, monitors int, differ string) string {
	return budgettest.Numbered(workloads, "---\napiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p%[1]d, namespace: d, annotations: {a: "+differ+"}}\nspec: {version: v2.30.0, serviceMonitorSelector: {}, podMonitorSelector: {}, ruleSelector: {}, enforcedSampleLimit: 5}\n") +
		budgettest.Numbered(monitors, "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: m%d, namespace: d}\nspec: {selector: {matchLabels: {app: web}}, sampleLimit: 10, endpoints: [{port: web, enableHttp2: true}]}\n") +
		`---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: late, namespace: d}
spec: {selector: {}, podMetricsEndpoints: [{port: web, interval: 10s, scrapeTimeout: 20s}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: a, namespace: d}
spec: {groups: [{name: a, rules: [{alert: A, expr: "up == 0"}]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: b, namespace: d}
spec: {groups: [{name: a, rules: [{alert: A, expr: "up == 0"}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: d, labels: {app: web}}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: mail, namespace: d, labels: {app: web}}
spec: {selector: {app: mail}, ports: [{name: web, port: 80}]}
`
}

// Workloads that are alike get the findings that they get if each is examined on its own.
func TestFindingsOfAlikeWorkloads(t *testing.T) {
	findings := func(differ string) []Finding {
		out := run([]string{file(t, fleet(5, 3, differ))}, kinds()).Findings
		for i := range out {
			out[i].File = ""
		}
		return out
	}
	alike, apart := findings("same"), findings("v%[1]d")
	if diff := cmp.Diff(apart, alike); diff != "" {
		t.Error(diff)
	}
	shared := 0
	for _, f := range alike {
		if len(f.Workloads) == 5 {
			shared++
		}
	}
	if shared < 5 {
		t.Errorf("only %d findings are about all workloads: %v", shared, alike)
	}
}

// The text of each monitor is read once, and each is examined for two of many workloads that are alike.
func TestManyAlikeWorkloads(t *testing.T) {
	const n = 50
	o, faults := manifests.LoadAll([]string{file(t, fleet(n, n, "same"))}, kinds())
	e := Examine(o, faults, o.Kinds, Options{})
	if reads := e.linter.reader.Reads(); reads > n+5 {
		t.Errorf("%d texts were read for %d monitors", reads, n)
	}
	for _, w := range e.linter.made[1:] {
		if w.alike == nil || !w.alike.proved || len(w.outcome.Results) > 0 {
			t.Fatalf("%s is examined on its own", w.workload)
		}
	}
	if all := e.Outcomes(); len(all) != n || len(all[n-1].Results) != n+3 {
		t.Errorf("%d outcomes", len(all))
	}
}
