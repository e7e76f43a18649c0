package lint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// longList returns a List of monitors with a line of their specs.
func longList(items int, line string) string {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for i := range items {
		fmt.Fprintf(&text, "- apiVersion: monitoring.coreos.com/v1\n  kind: ServiceMonitor\n  metadata: {name: m%d, namespace: d}\n  spec:\n    selector: {}\n    %s\n    endpoints: []\n", i, line)
	}
	return text.String()
}

// The items of a List share one parsed document: the cost is not their number times the length of the List.
func TestLongList(t *testing.T) {
	const items = 300
	text := longList(items, "wrong: 1")
	path := file(t, text)
	budgettest.AtMost(t, "List", int64(2000*len(text)), func() {
		found := run([]string{path}, nil).Findings
		lines := map[int]bool{}
		for _, f := range found {
			if f.Field == "spec.wrong" {
				lines[f.Line] = true
			}
		}
		if len(lines) != items || !lines[9] || !lines[16] {
			t.Errorf("%d lines of %d findings", len(lines), len(found))
		}
	})
}

// The text of a List is searched for comments in place of values once, not for each item.
func TestCommentInALongList(t *testing.T) {
	const items = 2000
	text := longList(items, "jobLabel: #app")
	path := file(t, text)
	budgettest.AtMost(t, "List", int64(2000*len(text)), func() {
		found := 0
		for _, f := range run([]string{path}, nil).Findings {
			if f.Field == "spec.jobLabel" {
				found++
			}
		}
		if found != items {
			t.Errorf("%d findings about comments, want %d", found, items)
		}
	})
}

// The configurations of blackbox exporters are parsed once, not for each Probe.
func TestManyProbes(t *testing.T) {
	var text strings.Builder
	text.WriteString("apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p, namespace: d}\nspec: {probeSelector: {}}\n---\n")
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: blackbox, namespace: d}\ndata:\n  blackbox.yml: |\n    modules:\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "      m%d: {prober: http}\n", i)
	}
	const probes = 100
	for i := range probes {
		fmt.Fprintf(&text, "---\napiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: p%d, namespace: d}\nspec: {module: x, prober: {url: 'blackbox:9115'}, targets: {staticConfig: {static: [a]}}}\n", i)
	}
	path := file(t, text.String())
	budgettest.AtMost(t, "Probes", int64(2000*text.Len()), func() {
		found := 0
		for _, f := range run([]string{path}, kinds()).Findings {
			if f.Field == "spec.module" {
				found++
			}
		}
		if found != probes {
			t.Errorf("%d findings about modules, want %d", found, probes)
		}
	})
}

// A List of millions of empty items costs a few times its length.
func TestHollowList(t *testing.T) {
	for name, text := range map[string]string{
		"JSON":  `{"apiVersion":"v1","kind":"List","items":[` + strings.Repeat("{},", 2_000_000) + "{}]}",
		"YAML":  "apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat("- {}\n", 1_000_000),
		"typed": `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitorList","items":[` + strings.Repeat("{},", 2_000_000) + "{}]}",
	} {
		path := file(t, text)
		budgettest.AtMost(t, name, int64(60*len(text)), func() {
			if len(run([]string{path}, nil).Findings) == 0 {
				t.Errorf("%s: no finding", name)
			}
		})
	}
}

// Rules and static targets of several objects are compared without what all of an object have: its parameters or the labels of
// a group may be as long as the object.
func TestLongCommonParts(t *testing.T) {
	const items = 2000
	long := strings.Repeat("x", 100_000)
	prometheus := "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p, namespace: d}\nspec: {scrapeConfigSelector: {}, ruleSelector: {}}\n"
	for name, text := range map[string]string{
		"targets": fmt.Sprintf("---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: a, namespace: d}\nspec:\n  params: {a: [%s]}\n  staticConfigs:\n  - targets: [%s\"last\"]\n",
			long, budgettest.Numbered(items, `"t%d",`)),
		"rules": fmt.Sprintf("---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a, namespace: d}\nspec:\n  groups:\n  - name: a\n    labels: {a: %s}\n    rules: [%s]\n",
			long, budgettest.Numbered(items, "{record: 'a:b%d', expr: '1'},")),
	} {
		text += strings.ReplaceAll(text, "name: a, namespace", "name: b, namespace")
		path := file(t, prometheus+text)
		budgettest.AtMost(t, name, int64(500*len(text)), func() {
			twice := 0
			for _, f := range run([]string{path}, kinds()).Findings {
				if f.Name == "b" && f.Code == CodeRemark && strings.Contains(f.Message, "d/a has ") {
					twice++
				}
			}
			if twice == 0 {
				t.Errorf("%s: no finding", name)
			}
		})
	}
}

// The cost of an object with many items of two lists is not the product of their numbers.
func TestManyItems(t *testing.T) {
	const head = `apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: p, namespace: d}
spec: {scrapeConfigSelector: {}, serviceMonitorSelector: {}}
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: d, labels: {a: b}}
spec: {selector: {a: b}, ports: [{name: http, port: 80}]}
---
metadata: {name: a, namespace: d}
`
	for name, c := range map[string]struct {
		object string
		most   int // bytes allocated for each byte of the object
	}{
		"discoveries and steps": {"apiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nspec: {kubernetesSDConfigs: [" + budgettest.Numbered(budget.KubernetesDiscoveries, "{role: Pod, namespaces: {names: [n%d]}},") +
			"], relabelings: [" + budgettest.Numbered(4000, "{sourceLabels: [__meta_kubernetes_pod_label_a%d], action: keep, regex: x},") + "]}\n", 1000},
		"endpoints": {"apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nspec: {selector: {matchLabels: {a: b}}, endpoints: [" + budgettest.Numbered(2000, "{port: http, path: /%d},") + "]}\n", 5000},
	} {
		path := file(t, head+c.object)
		budgettest.AtMost(t, name, int64(c.most*len(c.object)), func() {
			if findings := run([]string{path}, kinds()).Findings; len(findings) > 0 {
				t.Errorf("%s: %v", name, findings)
			}
		})
	}
}

// TestLongValues: findings quote only the beginning of a value of any length.
func TestLongValues(t *testing.T) {
	text := "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p, namespace: d}\nspec: {resources: {requests: {cpu: '" + strings.Repeat("9", 20_000) + "'}}}\n"
	found := false
	for _, f := range run([]string{file(t, text)}, kinds()).Findings {
		if found = found || strings.Contains(f.Message, "999"); len(f.Message) > budget.MessageBytes+100 {
			t.Errorf("%s: a message of %d bytes", f.Field, len(f.Message))
		}
	}
	if !found {
		t.Error("no finding quotes the value")
	}
}

// The outcomes of workloads that select the same objects are not all in memory: they would be their number times that of the
// objects.
func TestManyWorkloadsOfTheSameObjects(t *testing.T) {
	KeepAtMost(t, 500)
	const n = 60
	path := file(t, budgettest.Numbered(n, "---\napiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p%d, namespace: d}\nspec: {podMonitorSelector: {}}\n")+
		budgettest.Numbered(n, "---\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: m%d, namespace: d}\nspec: {selector: {}, podMetricsEndpoints: [{port: web}]}\n"))
	o, faults := manifests.LoadAll([]string{path}, kinds())
	e := Examine(o, faults, o.Kinds, Options{})
	kept := 0
	for _, m := range e.linter.made {
		kept += len(m.outcome.Results)
	}
	if kept > 500 || kept == 0 {
		t.Errorf("%d results are kept", kept)
	}
	if all := e.Outcomes(); len(all) != n || len(all[n-1].Results) != n {
		t.Errorf("%d outcomes", len(all))
	}
}

// Names in rules are compared with the Services of many ServiceMonitors in little time: it was the cube of their number.
func TestManyServicesOfRules(t *testing.T) {
	const n = 600
	path := file(t, "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p, namespace: d}\nspec: {serviceMonitorSelector: {}, ruleSelector: {}}\n"+
		"---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r, namespace: d}\nspec: {groups: [{name: g, rules: [{alert: A, expr: 'up{job=\"m0\"} == 0'}]}]}\n"+
		budgettest.Numbered(n, "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: m%d, namespace: d}\nspec: {selector: {}, endpoints: [{port: web}]}\n")+
		budgettest.Numbered(n, "---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d, namespace: d}\nspec: {ports: [{name: web, port: 80}]}\n"))
	found := false
	begin := cputime.Now()
	for _, f := range run([]string{path}, kinds()).Findings {
		found = found || strings.Contains(f.Message, `no target has job="m0"`)
	}
	took := cputime.Since(begin)
	if !found || took > 15*time.Second {
		t.Errorf("%s; finding about the name of the monitor: %t", took, found)
	}
}

// Monitors, Services and pods that all select each other do not cost the product of their numbers.
func TestManyPodsOfManyServices(t *testing.T) {
	const n = 500
	text := budgettest.Numbered(n, "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: m%d, namespace: d}\nspec: {selector: {}, endpoints: [{port: web}]}\n") +
		budgettest.Numbered(n, "---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d, namespace: d}\nspec: {selector: {a: b}, ports: [{name: http, port: 80}]}\n") +
		budgettest.Numbered(n, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d, namespace: d, labels: {a: b}}\nspec: {containers: [{name: c, ports: [{name: http, containerPort: 80}]}]}\n")
	prometheus := "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p, namespace: d}\nspec: {serviceMonitorSelector: {}}\n"
	for kind, text := range map[string]string{"Prometheus": prometheus + text, "ServiceMonitor": text} {
		path, told := file(t, text), false
		begin := cputime.Now()
		for _, f := range run([]string{path}, kinds()).Findings {
			told = told || f.Kind == kind && strings.HasPrefix(f.Message, "hints about targets are not complete: ")
		}
		if took := cputime.Since(begin); !told || took > 15*time.Second {
			t.Errorf("%s: %s; note: %t", kind, took, told)
		}
	}
}

// Names in rules are compared with steps that drop metrics in little time, although the regular expression of an accepted step may
// take thousands of instructions for a character, and a rule may have a long name.
func TestExpensiveDropSteps(t *testing.T) {
	text := "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p, namespace: d}\nspec: {serviceMonitorSelector: {}, ruleSelector: {}}\n" +
		"---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: m, namespace: d}\nspec: {selector: {}, endpoints: [{port: web, metricRelabelings: [{sourceLabels: [__name__], action: drop, regex: '(.*a?){900}b'}]}]}\n"
	for _, letter := range []string{"a", "b", "c"} {
		text += "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: " + letter + ", namespace: d}\nspec: {groups: [{name: g, rules: [" +
			budgettest.Numbered(2_000, "{alert: A, expr: '"+strings.Repeat(letter, 200)+"%d > 0'},") + "]}]}\n"
	}
	path := file(t, text)
	begin := cputime.Now()
	for _, f := range run([]string{path}, kinds()).Findings {
		if f.Severity == SeverityError {
			t.Error(f)
		}
	}
	if took := cputime.Since(begin); took > 15*time.Second {
		t.Errorf("%s", took)
	}
}

// Similar names are searched for a limited number of the names in expressions: among thousands, each search takes milliseconds.
func TestManySimilarNames(t *testing.T) {
	for use, rules := range map[string][2]string{
		"ALERTS":        {"{alert: Knownalertname%04d, expr: 'up == 0'},", `{record: 'a:b', expr: 'ALERTS{alertname="Xnownalertnames%04d"}'},`},
		"recorded name": {"{record: 'job:knownrecordedname%04d', expr: up},", `{alert: A, expr: 'jox:knownrecordednames%04d > 0'},`},
	} {
		text := "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p, namespace: d}\nspec: {ruleSelector: {}}\n"
		add := func(name, rules string) {
			text += "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: " + name + ", namespace: d}\nspec: {groups: [{name: g, rules: [" + rules + "]}]}\n"
		}
		add("known", budgettest.Numbered(1_900, rules[0]))
		for _, letter := range []string{"a", "b", "c"} {
			add(letter, strings.ReplaceAll(budgettest.Numbered(4_000, rules[1]), "names", "name"+letter))
		}
		path := file(t, text)
		begin := cputime.Now()
		found := run([]string{path}, kinds()).Findings
		if took := cputime.Since(begin); took > 15*time.Second {
			t.Errorf("%s: %s, %d findings", use, took, len(found))
		}
	}
}

// Matchers of routes are compared with the values of labels of alerts in little time, with similar ones and as regular expressions.
func TestManyMatchersOfRoutes(t *testing.T) {
	for name, tc := range map[string]struct {
		matchers int
		format   string
	}{
		"almost a value":     {4_000, "{receiver: a, matchers: [{name: alertname, value: Xnownalertnames-%04d, matchType: '='}]},"},
		"regular expression": {15, "{receiver: a, matchers: [{name: alertname, value: '(.*a?){95}x%d', matchType: '=~'}]},"},
	} {
		text := "apiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: m, namespace: d}\nspec: {alertmanagerConfigSelector: {}}\n" +
			"---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r, namespace: d}\nspec: {groups: [{name: g, rules: [" +
			budgettest.Numbered(1_900, "{alert: Knownalertname%04d"+strings.Repeat("a", 100)+", expr: 'up == 0'},{alert: Knownalertname%[1]04d, expr: 'up == 0'},") + "]}]}\n"
		for _, letter := range []string{"a", "b", "c", "d", "e", "f"} {
			text += "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: AlertmanagerConfig\nmetadata: {name: " + letter + ", namespace: d}\nspec: {receivers: [{name: a}], route: {receiver: a, routes: [" +
				strings.ReplaceAll(budgettest.Numbered(tc.matchers, tc.format), "names-", "name"+letter) + "]}}\n"
		}
		path := file(t, text)
		begin := cputime.Now()
		for _, f := range run([]string{path}, allKinds()).Findings {
			if f.Severity == SeverityError {
				t.Errorf("%s: %v", name, f)
			}
		}
		if took := cputime.Since(begin); took > 15*time.Second {
			t.Errorf("%s: %s", name, took)
		}
	}
}
