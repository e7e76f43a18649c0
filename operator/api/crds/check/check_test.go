package check_test

import (
	"testing"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/check"
)

func TestObject(t *testing.T) {
	all, err := crds.Standard("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	var checker *check.Checker
	for _, crd := range all {
		if crd.Spec.Names.Kind == "Prometheus" {
			if checker, err = check.New(crd, "v1"); err != nil {
				t.Fatal(err)
			}
			if _, err := check.New(crd, "v9"); err == nil {
				t.Error("a version that does not exist has a checker")
			}
		}
	}
	for name, tc := range map[string]struct{ spec, want string }{
		"good":          {"{shards: 1}", ""},
		"null":          {"{scrapeConfigSelector: null, shards: null, scrapeInterval: null, containers: [{name: a, image: null}]}", ""},
		"unknown field": {"{shard: 1}", `spec.shard: Invalid value: null: unknown field`},
		"enum": {"{podManagementPolicy: Never}",
			`spec.podManagementPolicy: Unsupported value: "Never": supported values: "OrderedReady", "Parallel"`},
		"rule": {"{shards: 1, shardingStrategy: {topology: {values: [a]}}}",
			`spec.shardingStrategy: Invalid value: topology can only be defined when mode is set to 'Topology'`},
		"list that is a map": {"{hostAliases: [{ip: a, hostnames: [x]}, {ip: a, hostnames: [z]}]}",
			`spec.hostAliases[1]: Duplicate value: {"ip":"a"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if problems := checker.Object(object(t, "spec: "+tc.spec)); len(problems) > 0 {
				got = problems.ToAggregate().Error()
			}
			if got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// Defaults are set before anything is checked.
func TestDefault(t *testing.T) {
	all, err := crds.Standard("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range all {
		if crd.Spec.Names.Kind != "Prometheus" {
			continue
		}
		checker, err := check.New(crd, "v1")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"spec: {}", "spec: {scrapeInterval: null}"} {
			o := object(t, text)
			checker.Default(o)
			if got := o["spec"].(map[string]any)["scrapeInterval"]; got != "30s" {
				t.Errorf("%s: spec.scrapeInterval = %v, want the default 30s", text, got)
			}
		}
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A valid object of a usual kind is checked without building the validators of the library.
func TestValid(t *testing.T) {
	crd, err := crds.OfKind("ServiceMonitor", false)
	if err != nil {
		t.Fatal(err)
	}
	checker, err := check.New(crd, "v1")
	if err != nil {
		t.Fatal(err)
	}
	const text = `
spec:
  selector: {matchLabels: {app: web}}
  endpoints:
  - port: web
    interval: 30s
    params: {a: [b]}
    relabelings: [{sourceLabels: [a, b], targetLabel: c, regex: (.*), action: replace}]
  - targetPort: 8080
    basicAuth: {username: {name: a, key: b}}
`
	valid := object(t, text)
	checker.Default(valid)
	allocated := testing.AllocsPerRun(10, func() {
		if problems := checker.Defaulted(valid); len(problems) > 0 {
			t.Fatal(problems)
		}
	})
	if allocated > 50 {
		t.Errorf("%v allocations; validators of the library make thousands", allocated)
	}
	valid["spec"].(map[string]any)["endpoints"].([]any)[0].(map[string]any)["interval"] = "1 h"
	if problems := checker.Defaulted(valid); len(problems) != 1 || problems[0].Field != "spec.endpoints[0].interval" {
		t.Errorf("problems of an invalid interval: %v", problems)
	}
}
