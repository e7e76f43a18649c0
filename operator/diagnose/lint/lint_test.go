package lint

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/render"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// run reads manifests and checks them.
func run(paths []string, kinds []*engine.Kind) Report {
	o, faults := manifests.LoadAll(paths, kinds)
	return Check(o, faults, Options{})
}

// kinds returns the kinds Prometheus and PrometheusAgent.
func kinds() []*engine.Kind {
	return controllerstest.Kinds(controllerstest.Options())[:2]
}

// file writes a manifest and returns its path.
func file(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func pod(name string) string {
	return "\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: " + name + ", namespace: team}\nspec: {selector: {}, podMetricsEndpoints: [{port: a}]}\n"
}

func TestSplit(t *testing.T) {
	for path, want := range map[string][]string{
		"":                         nil,
		"spec":                     {"spec"},
		"spec.a[0].b":              {"spec", "a", "0", "b"},
		`metadata.labels["a.b"].c`: {"metadata", "labels", "a.b", "c"},
		"a[0][1]":                  {"a", "0", "1"},
		"a[":                       {"a", "["},
		`a["`:                      {"a", `["`},
	} {
		if got := manifests.SplitPath(path); !slices.Equal(got, want) {
			t.Errorf("split(%q) = %q, want %q", path, got, want)
		}
	}
}

// TestLintLines: the line of a fault is correct for any line endings and spelling of
// the key.
func TestLintLines(t *testing.T) {
	const typo = "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: x}\nspec:\n  selector: {}\n  podMetricsEndpoints: [{port: a}]\n  basic_auth: 1"
	const twins = "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata:\n  name: x\n  labels:\n    ab: fine\n    a_b: [1]\nspec: {selector: {}, podMetricsEndpoints: [{port: a}]}\n"
	for name, tc := range map[string]struct {
		text string
		line int
	}{
		"no final newline":       {"# one\n---\n" + typo, 9},
		"final newline":          {"# one\n---\n" + typo + "\n", 9},
		"carriage returns":       {strings.ReplaceAll("# one\n---\n"+typo+"\n", "\n", "\r\n"), 9},
		"JSON on one line":       {`{"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": {"name": "x"}, "spec": {"selector": {}, "podMetricsEndpoints": [{"port": "a"}], "basic_auth": 1}}`, 1},
		"keys alike":             {twins, 7},
		"carriage returns twice": {strings.ReplaceAll(pod("web")+"---\n"+typo+"\n", "\n", "\r\n"), strings.Count(pod("web"), "\n") + 8},
	} {
		r := run([]string{file(t, tc.text)}, kinds())
		if len(r.Findings) != 1 || r.Findings[0].Line != tc.line {
			t.Errorf("%s: got %+v, want line %d", name, r.Findings, tc.line)
		}
	}
}

// TestLintShowsNoSecret: the content of a faulty Secret is not printed.
func TestLintShowsNoSecret(t *testing.T) {
	for _, text := range []string{
		"stringData: {password: [hunter2]}", "data: {password: hunter2}", "stringData: {password: {hunter2: a}}",
		"stringData: {password: hunter2\n", "stringData: hunter2", "stringdata: {password: hunter2}", "data: {password: \"hunter2\", password: a}",
	} {
		dir := file(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"+text+"\n")
		r := run([]string{dir}, kinds())
		if r.Count(SeverityError) == 0 {
			t.Errorf("%s: nothing is found", text)
		}
		for _, format := range Formats {
			var out strings.Builder
			if err := r.Write(&out, format); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "hunter2") {
				t.Errorf("%s as %s shows the value:\n%s", text, format, out.String())
			}
		}
	}
}

// TestLintSeesWhatRenderSees: lint reports the errors of a workload that render returns.
func TestLintSeesWhatRenderSees(t *testing.T) {
	dir := file(t, `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: k8s, namespace: team}
spec: {version: 2.30.0, podMonitorSelector: {}}
---
`+pod("good")+"---\n"+strings.Replace(pod("bad"), "{selector: {}", "{selector: {}, scrapeClass: none", 1)+"---\n"+
		strings.Replace(pod("old"), "[{port: a}]}", "[{port: a}, {port: b, path: /b}], keepDroppedTargets: 1}", 1))
	o, err := manifests.Load([]string{dir}, kinds())
	if err != nil {
		t.Fatal(err)
	}
	workloads, err := render.Workloads(o, "")
	if err != nil || len(workloads) != 1 {
		t.Fatalf("%v, %v", workloads, err)
	}
	out := slices.Collect(render.Outputs(o, workloads))
	r := run([]string{dir}, kinds())
	if e, w := r.Count(SeverityError), r.Count(SeverityWarning); e != len(out[0].Rejected) || e != 1 || w != 1 || len(out[0].Dropped) != w {
		t.Errorf("render: %v, %v; lint: %+v", out[0].Rejected, out[0].Dropped, r.Findings)
	}
}

func TestStandInSelectsEverything(t *testing.T) {
	w, needed := standIn(kinds(), nil, wellknown.DefaultPrometheusVersion)
	if p := w.Object.(*v1.Prometheus); !needed || promconfig.Unmanaged(p, false) || p.Spec.Version != wellknown.DefaultPrometheusVersion {
		t.Errorf("got %+v", p.Spec)
	}
	rules, err := w.Kind.Selectors(w.Object)
	if err != nil || len(rules) != 5 {
		t.Fatalf("%d selectors, %v", len(rules), err)
	}
	for kind, rule := range rules {
		if why := rule.Why("anywhere", nil, nil); why != selection.Selected {
			t.Errorf("%s: %s", kind, why)
		}
	}
}

// If there are agents, the stand-in selects only the kinds that agents cannot select.
func TestStandInBesideAgents(t *testing.T) {
	kinds := kinds()
	agent := dryrun.Workload{Kind: kinds[1], Object: &v1alpha1.PrometheusAgent{}}
	w, needed := standIn(kinds, []dryrun.Workload{agent}, "")
	rules, err := w.Kind.Selectors(w.Object)
	if err != nil || !needed {
		t.Fatal(needed, err)
	}
	for kind, rule := range rules {
		if rule.Empty() != (kind != v1.PrometheusRuleKind) {
			t.Errorf("%s is selected: %v", kind, !rule.Empty())
		}
	}
	server := dryrun.Workload{Kind: kinds[0], Object: &v1.Prometheus{}}
	if _, needed := standIn(kinds, []dryrun.Workload{agent, server}, ""); needed {
		t.Error("a Prometheus can select everything")
	}
}

// The reasons for an unselected object exclude workloads whose kind cannot select it and
// workloads with invalid selectors.
func TestNotSelected(t *testing.T) {
	const rule = "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r, namespace: team}\nspec: {groups: []}\n"
	for name, tc := range map[string]struct{ server, want string }{
		"no selector":      {"{}", "not selected by Prometheus team/k8s: spec.ruleSelector (line 4) is not set, so it selects no PrometheusRule ({} selects all)"},
		"selects it":       {"{ruleSelector: {}}", ""},
		"a wrong selector": {"{ruleSelector: {matchExpressions: [{key: a, operator: Is}]}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			const agent = "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: PrometheusAgent\nmetadata: {name: edge, namespace: team}\nspec: {}\n"
			r := run([]string{file(t, "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k8s, namespace: team}\nspec: "+tc.server+"\n"+agent+rule)}, kinds())
			got := ""
			for _, f := range r.Findings {
				if f.Code == CodeNotSelected {
					got += f.Message
				}
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// kubePrometheus returns the folder with the manifests of kube-prometheus. It skips the test if
// the folder does not exist.
func kubePrometheus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FIREKEEPER_SHARED")
	for at, _ := os.Getwd(); dir == "" && at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			dir = filepath.Join(filepath.Dir(at), "shared")
		}
	}
	dir = filepath.Join(dir, "real/kube-prometheus")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the manifests of kube-prometheus are not there")
	}
	return dir
}

// TestLintKubePrometheus: widely used manifests have no findings, except for the descriptions of
// five alerts about Alertmanager with a label that their expressions aggregate away.
func TestLintKubePrometheus(t *testing.T) {
	r := run([]string{kubePrometheus(t)}, kinds())
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		return f.Severity == SeverityNote && f.Name == "alertmanager-main-rules" && strings.HasPrefix(f.Message, "$labels.job is empty")
	})
	if len(r.Findings) > 0 || r.Objects < 20 {
		t.Errorf("%d objects, %+v", r.Objects, r.Findings)
	}
}

// TestObjectsKubePrometheus: the objects of kube-prometheus are valid on their own.
func TestObjectsKubePrometheus(t *testing.T) {
	goodObjects(t, kubePrometheus(t), 15)
}

// TestObjectsOfExamples: the objects of our examples are valid on their own.
func TestObjectsOfExamples(t *testing.T) {
	goodObjects(t, "../../../deploy/examples", 3)
}

// goodObjects checks that each object of a folder is valid on its own, and that there are at
// least some number of them.
func goodObjects(t *testing.T, dir string, least int) {
	t.Helper()
	all, err := manifests.Load([]string{dir}, allKinds())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, row := range catalog.All[:8] {
		for _, object := range all.All(row) {
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if got := Object(allKinds(), row, object, text); len(got) > 0 {
				t.Errorf("%s %s: %s", row.Kind, object.GetName(), summary(got))
			}
			n++
		}
	}
	if n < least {
		t.Errorf("only %d objects in %s", n, dir)
	}
}

// TestManyServicesOfOneNamespace: the Services of a namespace are not copied for each of its monitors, although the
// operator's own Service is in another namespace.
func TestManyServicesOfOneNamespace(t *testing.T) {
	const n = 400
	var text strings.Builder
	text.WriteString(anyPrometheus + "  serviceMonitorSelector: {}\n  serviceMonitorNamespaceSelector: {}\n")
	for i := range n {
		fmt.Fprintf(&text, "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata:\n  name: web-%d\n  namespace: app\nspec:\n  selector: {matchLabels: {app: web-%d}}\n  endpoints:\n  - {port: web}\n", i, i)
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: web-%d\n  namespace: app\n  labels: {app: web-%d}\nspec:\n  selector: {app: web-%d}\n  ports: [{name: web, port: 80}]\n", i, i, i)
	}
	o, faults := manifests.LoadAll([]string{file(t, text.String())}, kinds())
	Check(o, faults, Options{}) // what is built on first use
	budgettest.AtMost(t, "lint", n*96<<10, func() { Check(o, faults, Options{}) })
}

// TestManyUnsound: of many faults, an error has the lines of the first ones, and the number of the others.
func TestManyUnsound(t *testing.T) {
	var all strings.Builder
	for i := range 25 {
		fmt.Fprintf(&all, "%s---\n", strings.Replace(pod(fmt.Sprint("web-", i)), "selector:", "selectr:", 1))
	}
	path := file(t, all.String())
	o, wrong := manifests.LoadSound([]string{path}, kinds(), false)
	lines := strings.Split(Unsound(o, wrong).Error(), "\n")
	if len(lines) != 21 || lines[20] != "and 5 more faults" {
		t.Fatalf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	if want := `: PodMonitor team/web-0: spec.selectr: unknown field, did you mean "selector"?`; !strings.HasSuffix(lines[0], want) || !strings.HasPrefix(lines[0], path+":") {
		t.Errorf("%q", lines[0])
	}
}
