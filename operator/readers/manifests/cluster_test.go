package manifests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// kinds returns the kinds that the operator runs, with small caches.
func kinds() []*engine.Kind {
	return controllerstest.Kinds(controllerstest.Options())[:2]
}

// A cluster lists the objects of each kind, in any order of the manifests.
func TestClusterListsEveryKind(t *testing.T) {
	var manifests strings.Builder
	for kind, spec := range map[string]string{
		"ServiceMonitor": "{selector: {}, endpoints: []}", "PodMonitor": "{selector: {}}", "Probe": "{targets: {}}",
		"ScrapeConfig": "{}", "PrometheusRule": "{}",
	} {
		for _, name := range []string{"two", "one"} {
			fmt.Fprintf(&manifests, "---\napiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec: %s\n", catalog.Of(kind).GroupVersion(), kind, name, spec)
		}
	}
	o, err := Load([]string{folder(t, map[string]string{"a.yaml": manifests.String()})}, kinds())
	if err != nil {
		t.Fatal(err)
	}
	c := o.Cluster(dryrun.Workload{Kind: o.Kinds[0], Object: &v1.Prometheus{}})
	var got []string
	for _, row := range Selectable(o.Kinds) {
		for object := range c.Objects(row.Kind) {
			got = append(got, fmt.Sprintf("%T %s", object, object.GetName()))
		}
	}
	want := []string{
		"*v1.ServiceMonitor one", "*v1.ServiceMonitor two", "*v1.PodMonitor one", "*v1.PodMonitor two", "*v1.Probe one", "*v1.Probe two",
		"*v1alpha1.ScrapeConfig one", "*v1alpha1.ScrapeConfig two", "*v1.PrometheusRule one", "*v1.PrometheusRule two",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A cluster of one object contains nothing else.
func TestOnly(t *testing.T) {
	c := Only(catalog.PodMonitor, &v1.PodMonitor{}).Cluster(dryrun.Workload{Kind: kinds()[0], Object: &v1.Prometheus{}})
	for kind, want := range map[string]int{v1.PodMonitorKind: 1, v1.ProbeKind: 0} {
		if n := len(slices.Collect(c.Objects(kind))); n != want {
			t.Errorf("%d %ss", n, kind)
		}
	}
}

// Peers are the workloads of the same kind and namespace.
func TestPeers(t *testing.T) {
	const agent = "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: PrometheusAgent\nmetadata: {name: edge, namespace: team}\nspec: {}\n"
	one := prometheusOfTeam + "{}\n---\n"
	o, err := Load([]string{folder(t, map[string]string{"a.yaml": one + strings.Replace(one, "k8s", "more", 1) +
		strings.Replace(one, "team", "other", 1) + agent})}, kinds())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range o.Workloads() {
		line := w.String()
		for _, peer := range o.Cluster(w).Live.Peers {
			line += " " + peer.GetName()
		}
		got = append(got, line)
	}
	want := []string{"Prometheus other/k8s k8s", "PrometheusAgent team/edge edge", "Prometheus team/k8s k8s more", "Prometheus team/more k8s more"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const prometheusOfTeam = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k8s, namespace: team}\nspec: "

func TestReconcile(t *testing.T) {
	rule := "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r, namespace: team}\n" +
		"spec: {groups: [{name: a, limit: 1, rules: [{record: 'x:y', expr: up}]}]}\n"
	monitors := "---\n" + pod("good") + "---\n" + strings.Replace(pod("bad"), "{selector: {}}", "{selector: {}, scrapeClass: none}", 1) +
		"---\n" + strings.Replace(pod("old"), "{selector: {}}", "{selector: {}, keepDroppedTargets: 1, podMetricsEndpoints: [{}]}", 1)
	for name, tc := range map[string]struct {
		spec     string
		selected []string // each with its dropped fields, or that it is rejected
		dropped  []string
		err      string
	}{
		"selects": {"{version: 2.30.0, podMonitorSelector: {}, ruleSelector: {}}", []string{
			"PodMonitor bad rejected", "PodMonitor good []", "PodMonitor old [scrape_configs[0].keep_dropped_targets needs >= 2.47.0]",
			"PrometheusRule r [spec.groups[0].limit needs >= 2.31.0]",
		}, nil, ""},
		"selects nothing": {"{serviceMonitorSelector: {}}", nil, nil, ""},
		"loses a field":   {"{version: 2.30.0, serviceMonitorSelector: {}, keepDroppedTargets: 1}", nil, []string{"global.keep_dropped_targets needs >= 2.47.0"}, ""},
		"is invalid":      {"{version: latest, podMonitorSelector: {}}", nil, nil, `spec.version: "latest" is not a version`},
		"lacks a Secret": {"{podMonitorSelector: {matchLabels: {a: b}}, additionalScrapeConfigs: {name: more, key: a}}", nil, nil,
			`Secret "team/more" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Load([]string{folder(t, map[string]string{"a.yaml": prometheusOfTeam + tc.spec + "\n" + rule + monitors})}, kinds())
			if err != nil {
				t.Fatal(err)
			}
			got := o.Reconcile(o.Workloads()[0])
			if text := fmt.Sprint(got.Err); tc.err == "" && got.Err != nil || !strings.Contains(text, tc.err) {
				t.Errorf("err = %v, want %q", got.Err, tc.err)
			}
			if planned := len(got.Plan.Content) > 0; planned != (tc.err == "") {
				t.Errorf("there is a plan: %v", planned)
			}
			var selected []string
			for _, s := range got.Results {
				what := fmt.Sprint(s.Dropped)
				if s.Err != nil {
					what = "rejected"
				}
				selected = append(selected, s.Kind+" "+s.Object.GetName()+" "+what)
			}
			if diff := cmp.Diff(tc.selected, selected); diff != "" {
				t.Error(diff)
			}
			var dropped []string
			for _, d := range got.Plan.Dropped {
				dropped = append(dropped, d.String())
			}
			if diff := cmp.Diff(tc.dropped, dropped); diff != "" {
				t.Error(diff)
			}
		})
	}
}
