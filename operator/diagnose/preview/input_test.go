package preview

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	settings "github.com/firekeeper-dev/firekeeper/operator/workload"
)

// inputText has a workload that another operator manages, and objects in two namespaces.
const inputText = `
{apiVersion: monitoring.coreos.com/v1, kind: Prometheus, metadata: {name: main, namespace: demo}, spec: {podMonitorSelector: {}, podMonitorNamespaceSelector: {}}}
---
{apiVersion: monitoring.coreos.com/v1, kind: Prometheus, metadata: {name: other, namespace: demo, annotations: {operator.prometheus.io/controller-id: other}}, spec: {podMonitorSelector: {}}}
---
{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: web, namespace: demo}, spec: {selector: {}, podMetricsEndpoints: [{port: http}]}}
---
{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: far, namespace: far}, spec: {selector: {}, podMetricsEndpoints: [{port: http}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: demo}, spec: {containers: [{name: web, ports: [{name: http, containerPort: 80}]}]}, status: {phase: Running, podIP: 10.0.0.1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: far-0, namespace: far}, spec: {containers: [{name: far, ports: [{name: http, containerPort: 80}]}]}, status: {phase: Running, podIP: 10.0.0.2}}
`

// input returns the input of manifests for an operator that watches one namespace.
func input(t *testing.T) Input {
	t.Helper()
	watched, err := informer.NewNamespaces([]string{"demo"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	options := prometheus.Options{Workload: settings.Config{
		PrometheusBaseImage: "registry/prometheus", ConfigReloaderImage: "registry/reloader:v1", RulesReloaderImage: "registry/reloader:v1",
	}}
	servers, agents := prometheus.Kinds(options, &rules.Cache{})
	in := Input{Options: options}
	in.Scopes = engine.Scopes{Configs: watched, Instances: watched}
	for _, kind := range []*engine.Kind{servers, agents} {
		in.Setups = append(in.Setups, engine.Setup{Kind: kind, Options: engine.Options{Instances: watched}})
	}
	objects, wrong := manifests.Read("a.yaml", []byte(inputText), explain.Kinds(in.Setups))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	in.Manifests, in.Finder = objects, AmongManifests(objects.Native())
	return in
}

// A report is about the workloads that the operator manages, and the objects that it watches.
func TestInput(t *testing.T) {
	prometheusNamed := func(name string) catalog.Ref { return catalog.Ref{Kind: "Prometheus", Namespace: "demo", Name: name} }
	for name, tc := range map[string]struct {
		query Query
		about string // NAMESPACE/NAME of a PodMonitor
		kept  string // workload and URL of each target
		err   string
	}{
		"everything":                       {kept: "Prometheus demo/main http://10.0.0.1:80/metrics"},
		"a workload":                       {query: Query{Workload: prometheusNamed("main")}, kept: "Prometheus demo/main http://10.0.0.1:80/metrics"},
		"a workload of another operator":   {query: Query{Workload: prometheusNamed("other")}, err: "Prometheus demo/other is not managed by this operator: "},
		"no such workload":                 {query: Query{Workload: prometheusNamed("none")}, err: "Prometheus demo/none does not exist among the manifests"},
		"a pod":                            {query: Query{Pod: types.NamespacedName{Namespace: "demo", Name: "web-0"}}, kept: "Prometheus demo/main http://10.0.0.1:80/metrics"},
		"a pod in another namespace":       {query: Query{Pod: types.NamespacedName{Namespace: "far", Name: "far-0"}}},
		"no such pod":                      {query: Query{Pod: types.NamespacedName{Namespace: "demo", Name: "none"}}, err: "pod demo/none does not exist among the manifests"},
		"no such job":                      {query: Query{Job: "none"}, err: "--job=none: no such job"},
		"an object":                        {about: "demo/web", kept: "Prometheus demo/main http://10.0.0.1:80/metrics"},
		"an object and all others":         {query: Query{Overlaps: true}, about: "demo/web", kept: "Prometheus demo/main http://10.0.0.1:80/metrics"},
		"an object in another namespace":   {about: "far/far"},
		"no such object":                   {about: "demo/none", err: "no PodMonitor demo/none among the manifests"},
		"a job of an object that has none": {query: Query{Job: "none"}, about: "demo/web", err: "--job=none: no such job"},
	} {
		t.Run(name, func(t *testing.T) {
			in, q := input(t), tc.query
			q.Shard = AllShards
			var report Report
			var err error
			if tc.about == "" {
				report, err = in.Run(t.Context(), q)
			} else {
				var n explain.Name
				if n, err = explain.ParseName(explain.Kinds(in.Setups), "podmonitor", tc.about); err != nil {
					t.Fatal(err)
				}
				report, err = in.RunAbout(t.Context(), n, q)
			}
			if tc.err != "" || err != nil {
				if tc.err == "" || !strings.Contains(fmt.Sprint(err), tc.err) {
					t.Errorf("got %v, want %q", err, tc.err)
				}
				return
			}
			var kept []string
			for _, target := range report.Items {
				if target.State == targets.Kept {
					kept = append(kept, target.Workload.String()+" "+target.URL)
				}
			}
			if got := strings.Join(kept, ", "); got != tc.kept {
				t.Errorf("got %q, want %q", got, tc.kept)
			}
		})
	}
}

// Objects that nothing selects are named in the report about everything, and in no other.
func TestInputNamesUnselected(t *testing.T) {
	for name, q := range map[string]Query{"everything": {}, "a workload": {Workload: catalog.Ref{Kind: "Prometheus", Namespace: "demo", Name: "main"}}, "overlaps": {Overlaps: true, OverlapsOnly: true}} {
		in := input(t)
		in.Manifests.Scope = explain.ScopeOf(in.Setups, in.Scopes)
		q.Shard = AllShards
		report, err := in.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if named := len(report.Unselected) > 0; named != (name == "everything") {
			t.Errorf("%s: %v", name, report.Unselected)
		}
	}
}
