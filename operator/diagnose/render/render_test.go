package render

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// kinds returns the kinds Prometheus and PrometheusAgent.
func kinds() []*engine.Kind {
	return controllerstest.Kinds(controllerstest.Options())[:2]
}

// Manifests of the tests.
const (
	group = "---\napiVersion: monitoring.coreos.com/"
	k8s   = group + "v1\nkind: Prometheus\nmetadata: {name: k8s, namespace: team}\n" +
		"spec: {podMonitorSelector: {}, ruleSelector: {}, version: 2.30.0}\n"
	edge    = group + "v1alpha1\nkind: PrometheusAgent\nmetadata: {name: edge, namespace: team}\nspec: {podMonitorSelector: {}}\n"
	invalid = group + "v1\nkind: Prometheus\nmetadata: {name: bad, namespace: team}\nspec: {version: latest, podMonitorSelector: {}}\n"
	web     = group + "v1\nkind: PodMonitor\nmetadata: {name: web, namespace: team}\nspec: {selector: {}, podMetricsEndpoints: [{port: http}]}\n"
	old     = group + "v1\nkind: PodMonitor\nmetadata: {name: old, namespace: team}\nspec: {selector: {}, keepDroppedTargets: 1, podMetricsEndpoints: [{}]}\n"
	none    = group + "v1\nkind: PodMonitor\nmetadata: {name: none, namespace: team}\nspec: {selector: {}, scrapeClass: none}\n"
	records = group + "v1\nkind: PrometheusRule\nmetadata: {name: up, namespace: team, uid: abc}\n" +
		"spec: {groups: [{name: a, rules: [{record: 'x:y', expr: up}]}]}\n"
	alerts = group + "v1\nkind: PrometheusRule\nmetadata: {name: down, namespace: team}\n" +
		"spec: {groups: [{name: a, rules: [{alert: A, expr: 'up('}]}]}\n"
)

func load(t *testing.T, texts ...string) *manifests.Objects {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(strings.Join(texts, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := manifests.Load([]string{file}, kinds())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestWorkloads(t *testing.T) {
	for name, tc := range map[string]struct {
		manifests []string
		only      string
		want      []string
		err       string
	}{
		"all":             {[]string{k8s, edge, web}, "", []string{"PrometheusAgent team/edge", "Prometheus team/k8s"}, ""},
		"one":             {[]string{k8s, edge, web}, "Prometheus team/k8s", []string{"Prometheus team/k8s"}, ""},
		"in another case": {[]string{k8s, edge, web}, "prometheusagent team/edge", []string{"PrometheusAgent team/edge"}, ""},
		"none":            {[]string{web}, "", nil, "nothing to render: the manifests hold no Prometheus or PrometheusAgent"},
		"not this one": {[]string{k8s, edge}, "Prometheus team/edge", nil,
			"no Prometheus team/edge among the manifests (they hold PrometheusAgent team/edge, Prometheus team/k8s)"},
		"none of any name": {[]string{web}, "Prometheus team/k8s", nil,
			"no Prometheus team/k8s among the manifests (they hold no Prometheus or PrometheusAgent)"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := load(t, tc.manifests...)
			workloads, err := Workloads(objects, tc.only)
			if text := fmt.Sprint(err); tc.err != "" && text != tc.err || tc.err == "" && err != nil {
				t.Fatalf("err = %v, want %q", err, tc.err)
			}
			var got []string
			for o := range Outputs(objects, workloads) {
				got = append(got, o.Workload.String())
				if o.Err != nil {
					t.Error(o.Err)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// one renders the only workload.
func one(t *testing.T, texts ...string) Output {
	t.Helper()
	objects := load(t, texts...)
	workloads, err := Workloads(objects, "")
	if err != nil || len(workloads) != 1 {
		t.Fatalf("%v, %v", workloads, err)
	}
	return slices.Collect(Outputs(objects, workloads))[0]
}

func text(t *testing.T, out Output, part string) string {
	t.Helper()
	var b strings.Builder
	if err := out.WriteTo(&b, part); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The configuration has the accepted objects; rejected objects and dropped fields are reported.
func TestRejectedAndDropped(t *testing.T) {
	out := one(t, k8s, web, old, none, records, alerts)
	var rejected []string
	for _, r := range out.Rejected {
		rejected = append(rejected, r.String())
	}
	if len(rejected) != 2 || !strings.HasPrefix(rejected[0], `rejected PodMonitor team/none: spec.scrapeClass: `) ||
		!strings.HasPrefix(rejected[1], "rejected PrometheusRule team/down: spec.groups[0].rules[0].expr: ") {
		t.Errorf("rejected: %q", rejected)
	}
	if len(out.Dropped) != 1 || !strings.HasPrefix(out.Dropped[0], "PodMonitor team/old: ") {
		t.Errorf("left out: %q", out.Dropped)
	}
	if out.Err != nil {
		t.Error(out.Err)
	}
	config, files := text(t, out, "config"), text(t, out, "rules")
	for _, job := range []string{"job_name: podMonitor/team/web/0", "job_name: podMonitor/team/old/0"} {
		if !strings.Contains(config, job) {
			t.Errorf("no %s in the configuration", job)
		}
	}
	if strings.Contains(config, "podMonitor/team/none") || strings.Contains(config, "keep_dropped_targets") {
		t.Error("the configuration has what is rejected or left out")
	}
	if want := "---\n# prometheus-k8s-rulefiles-0/team-up-abc.yaml\n"; !strings.HasPrefix(files, want) || strings.Contains(files, "down") {
		t.Errorf("rules:\n%s\nwant %s…", files, want)
	}
}

// Each object is written as a manifest without status, in an order that does not depend on the input.
func TestObjects(t *testing.T) {
	out := one(t, k8s, web, records)
	manifests := text(t, out, "objects")
	for _, want := range []string{"kind: StatefulSet\n", "kind: Service\n", "kind: Secret\n", "kind: ConfigMap\n"} {
		if !strings.Contains(manifests, want) {
			t.Errorf("no %s", strings.TrimSpace(want))
		}
	}
	if n := strings.Count(manifests, "---\n"); n != len(out.Objects) {
		t.Errorf("%d documents for %d objects", n, len(out.Objects))
	}
	if strings.Contains(manifests, "\nstatus:") {
		t.Error("a manifest has a status")
	}
	kinds := func(o Output) (names []string) {
		for _, object := range o.Objects {
			names = append(names, object.GetObjectKind().GroupVersionKind().Kind+"/"+object.GetName())
		}
		return names
	}
	again := one(t, records, web, k8s)
	if diff := cmp.Diff(kinds(out), kinds(again)); diff != "" {
		t.Errorf("another order of the manifests: %s", diff)
	}
	if !slices.Contains(kinds(out), "StatefulSet/prometheus-k8s") {
		t.Errorf("objects: %q", kinds(out))
	}
}

// An invalid workload is rendered as an error only.
func TestInvalidWorkload(t *testing.T) {
	out := one(t, invalid, web)
	if out.Err == nil || !strings.Contains(out.Err.Error(), `spec.version: "latest"`) {
		t.Errorf("err = %v", out.Err)
	}
	if len(out.Objects)+len(out.Dropped)+len(out.Warnings) > 0 || text(t, out, "objects") != "" {
		t.Errorf("got %+v", out)
	}
}

// What is rendered of a paused workload is not written.
func TestPaused(t *testing.T) {
	out := one(t, strings.Replace(k8s, "spec: {", "spec: {paused: true, ", 1), web)
	if out.Err != nil || len(out.Objects) == 0 || !slices.ContainsFunc(out.Warnings, func(w string) bool { return strings.HasPrefix(w, "spec.paused: ") }) {
		t.Errorf("%v, %d objects, warnings %q", out.Err, len(out.Objects), out.Warnings)
	}
}

// An agent has no rules.
func TestAgent(t *testing.T) {
	out := one(t, edge, web, records)
	if config := text(t, out, "config"); !strings.Contains(config, "podMonitor/team/web/0") || strings.Contains(config, "rule_files") {
		t.Errorf("configuration:\n%s", config)
	}
	if files := text(t, out, "rules"); files != "" {
		t.Errorf("rules:\n%s", files)
	}
}

// Rule files that do not fit into ConfigMaps are written with part "rules" too.
func TestOverflow(t *testing.T) {
	out := Output{plain: []engine.Plain{{Part: "rules", Name: "a.yaml", Text: func(w io.Writer) error {
		_, err := io.WriteString(w, "groups: []\n")
		return err
	}}}}
	if got, want := text(t, out, "rules"), "---\n# with the configuration/a.yaml\ngroups: []\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := text(t, out, "objects"); got != "" {
		t.Errorf("got %q", got)
	}
}
