package admission

import (
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// workloads select everything in namespace demo.
const workloads = `
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: demo}
spec: {serviceMonitorSelector: {}, podMonitorSelector: {}, probeSelector: {}, scrapeConfigSelector: {}, ruleSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: demo}
spec: {alertmanagerConfigSelector: {}}
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: demo}
stringData: {username: u, ca.crt: x}
---
`

// unseen marks faults of references, which the webhook does not read.
const unseen = true

// TestSameWords: the Event of the operator, explain, lint and the webhook report a fault with the
// same path and the same text.
func TestSameWords(t *testing.T) {
	const endpoint, pod = "{selector: {}, endpoints: [{port: web, ", "{selector: {}, podMetricsEndpoints: [{port: web}, {port: web, "
	const rule, routes = "{groups: [{name: g, rules: [{alert: A, expr: up, ", "{receivers: [{name: r}], route: {receiver: r, "
	for _, tc := range []struct {
		kind, spec, field, reason string
		unseen                    bool
	}{
		{"ServiceMonitor", endpoint + "interval: 1s, scrapeTimeout: 2s}]}", "spec.endpoints[0].scrapeTimeout", "2s is longer than the interval 1s; set a longer interval, or a shorter timeout", false},
		{"ServiceMonitor", endpoint + "basicAuth: {username: {name: gone, key: k}, password: {name: login, key: username}}}]}", "spec.endpoints[0].basicAuth.username.name", `Secret "demo/gone" does not exist`, unseen},
		{"ServiceMonitor", endpoint + "basicAuth: {username: {name: login, key: usrname}, password: {name: login, key: username}}}]}", "spec.endpoints[0].basicAuth.username.key", `Secret "demo/login" has no key "usrname"`, unseen},
		{"ServiceMonitor", endpoint + "tlsConfig: {ca: {secret: {name: login, key: ca}}}}]}", "spec.endpoints[0].tlsConfig.ca.secret.key", `Secret "demo/login" has no key "ca"`, unseen},
		{"ServiceMonitor", endpoint + "tlsConfig: {ca: {configMap: {name: gone, key: ca}}}}]}", "spec.endpoints[0].tlsConfig.ca.configMap.name", `ConfigMap "demo/gone" does not exist`, unseen},
		{"ServiceMonitor", endpoint + "relabelings: [{action: keep}, {action: hashmod, targetLabel: a}]}]}", "spec.endpoints[0].relabelings[1].modulus", "must not be 0 for hashmod", false},
		{"ServiceMonitor", endpoint + "metricRelabelings: [{regex: '(', targetLabel: a}]}]}", "spec.endpoints[0].metricRelabelings[0].regex", "\"(\": error parsing regexp: missing closing ): `(`", false},
		{"ServiceMonitor", endpoint + "authorization: {type: Basic, credentials: {name: login, key: username}}}]}", "spec.endpoints[0].authorization.type", `"Basic" is not allowed here, use basicAuth`, false},
		{"ServiceMonitor", endpoint + "authorization: {}}]}", "spec.endpoints[0].authorization.credentials", "is missing", false},
		{"ServiceMonitor", endpoint + "oauth2: {tokenUrl: 'http://t', clientId: {}, clientSecret: {name: login, key: username}}}]}", "spec.endpoints[0].oauth2.clientId", "neither secret nor configMap is given", false},
		{"ServiceMonitor", endpoint + "tlsConfig: {maxVersion: TLS11, minVersion: TLS12}}]}", "spec.endpoints[0].tlsConfig.maxVersion", `"TLS11" is below minVersion "TLS12"`, false},
		{"ServiceMonitor", endpoint + "noProxy: a}]}", "spec.endpoints[0]", "noProxy needs proxyUrl", false},
		{"ServiceMonitor", "{selector: {matchExpressions: [{key: a, operator: Near}]}, endpoints: []}", "spec.selector.matchExpressions[0].operator", `"Near" is not one of In, NotIn, Exists and DoesNotExist`, false},
		{"PodMonitor", pod + "relabelings: [{action: replace}]}]}", "spec.podMetricsEndpoints[1].relabelings[0].targetLabel", "replace needs one", false},
		{"PodMonitor", pod + "basicAuth: {username: {name: '', key: k}, password: {name: login, key: username}}}]}", "spec.podMetricsEndpoints[1].basicAuth.username.name", "name of the Secret is empty", false},
		{"Probe", "{prober: {url: a}, targets: {}}", "spec.targets", "one of staticConfig and ingress is needed", false},
		{"Probe", "{prober: {url: 'http://a'}, targets: {staticConfig: {static: [b]}}}", "spec.prober.url", `"http://a": want host or host:port, without scheme and path; write a, with prober.scheme: http`, false},
		{"ScrapeConfig", "{scrapeInterval: 1s, scrapeTimeout: 2s}", "spec.scrapeTimeout", "2s is longer than the interval 1s; set a longer interval, or a shorter timeout", false},
		{"ScrapeConfig", "{consulSDConfigs: [{server: a}, {server: b, tokenRef: {name: gone, key: k}}]}", "spec.consulSDConfigs[1].tokenRef.name", `Secret "demo/gone" does not exist`, unseen},
		{"PrometheusRule", rule + "annotations: {summary: '{{ $lables.a }}'}}]}]}", `spec.groups[0].rules[0].annotations["summary"]`, `undefined variable "$lables", did you mean "$labels"? (group "g", alert "A")`, false},
		{"PrometheusRule", "{groups: [{name: g, rules: [{record: 'a:b', expr: 'sumy(up)'}]}]}", "spec.groups[0].rules[0].expr", `1:1: parse error: unknown function with name "sumy" (group "g", record "a:b")`, false},
		{"AlertmanagerConfig", routes + "routes: [{receiver: r}, {receiver: s}]}}", "spec.route.routes[1].receiver", `there is no receiver "s"; there is r`, false},
		{"AlertmanagerConfig", routes + "groupBy: ['...', a]}}", "spec.route.groupBy[0]", `"..." must be the only element`, false},
		{"AlertmanagerConfig", "{receivers: [{name: r, webhookConfigs: [{urlSecret: {name: gone, key: k}}]}], route: {receiver: r}}", "spec.receivers[0].webhookConfigs[0].urlSecret.name", `Secret "demo/gone" does not exist`, unseen},
		{"AlertmanagerConfig", routes + "routes: [{recevier: r}]}}", "spec.route.routes[0].recevier", `unknown field, did you mean "receiver"?`, false},
	} {
		t.Run(tc.kind+" "+tc.field, func(t *testing.T) {
			row := catalog.Of(tc.kind)
			want := tc.field + ": " + tc.reason
			text := workloads + "apiVersion: monitoring.coreos.com/" + row.Version + "\nkind: " + tc.kind + "\nmetadata: {name: a, namespace: demo}\nspec: " + tc.spec + "\n"
			kinds := objectKinds()
			objects, wrong := manifests.Read("a.yaml", []byte(text), kinds)
			if len(wrong) > 0 {
				t.Fatalf("the API server rejects it: %v", wrong[0].Err)
			}

			rejected := false
			for _, w := range objects.Workloads() {
				for _, v := range objects.Reconcile(w).Results {
					if v.Err != nil {
						rejected = true
						checkEvent(t, w.Kind, v, want, w.Kind.RejectionNote(w.Object, v.Object, v.Err))
					}
				}
			}
			if !rejected {
				t.Fatal("it is accepted")
			}

			if found := lint.Check(objects, nil, lint.Options{}).Findings; !slices.ContainsFunc(found, func(f lint.Finding) bool {
				// Its author may read the Secrets of the manifests, whose keys lint suggests.
				return f.Severity == lint.SeverityError && f.Field == tc.field && strings.HasPrefix(f.Message, tc.reason)
			}) {
				t.Errorf("lint: %+v", found)
			}

			if got := explained(t, objects, kinds, tc.kind); got != want {
				t.Errorf("explain: %q, want %q", got, want)
			}
			if !tc.unseen {
				path := map[string]string{"PrometheusRule": ValidateRulesPath, "AlertmanagerConfig": ValidateAlertmanagerConfigsPath}[tc.kind]
				if path == "" {
					path = ValidateObjectsPath
				}
				got := causes(t, ask(t, New(Options{Kinds: objectKinds, Rules: rules.Settings{}}), path, request(toJSON(t, "metadata: {name: a}\nspec: "+tc.spec), row.Resource+" "+row.Version)))
				if got != want {
					t.Errorf("webhook: %q, want %q", got, want)
				}
			}
		})
	}
}

// TestSameWordsOfWhatIsLeftOut: the condition and the log of the operator, render, explain, lint and
// the webhook report a field that the version does not support with the same path, the same text
// and the same need.
func TestSameWordsOfWhatIsLeftOut(t *testing.T) {
	const monitor = "spec.endpoints[0].enableHttp2: enable_http2 needs Prometheus >= 2.35.0 and is left out"
	const workload = "spec.scrapeProtocols: global.scrape_protocols needs Prometheus >= 2.49.0 and is left out"
	const spec = "{version: 2.30.0, scrapeProtocols: [PrometheusText0.0.4], serviceMonitorSelector: {}}"
	kinds := objectKinds()
	objects, wrong := manifests.Read("a.yaml", []byte(`
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: demo}
spec: `+spec+`
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: a, namespace: demo}
spec: {selector: {}, endpoints: [{port: web, enableHttp2: false}]}
`), kinds)
	if len(wrong) > 0 {
		t.Fatal(wrong[0].Err)
	}
	w := objects.Workloads()[0]
	made := objects.Reconcile(w)
	if made.Err != nil {
		t.Fatal(made.Err)
	}
	want := []string{"ServiceMonitor demo/a: " + monitor, workload}
	if got := w.Kind.AllDropped(w.Object, slices.Values(made.Results), made.Plan.Dropped); !slices.Equal(got, want) {
		t.Errorf("condition, log and render: %q, want %q", got, want)
	}
	if got := made.Results[0].Unsupported(w.Kind.Program); len(got) != 1 || got[0].Need != ">= 2.35.0" {
		t.Errorf("findings %+v", got)
	}
	var linted []string
	for _, f := range lint.Check(objects, nil, lint.Options{}).Findings {
		if f.Code == lint.CodeDropped {
			linted = append(linted, f.Field+": "+f.Message)
		}
	}
	if slices.Sort(linted); !slices.Equal(linted, []string{monitor, workload}) {
		t.Errorf("lint: %q", linted)
	}
	for _, v := range explanation(t, objects, kinds, "ServiceMonitor").Workloads {
		if !slices.Equal(v.Dropped, []string{monitor}) {
			t.Errorf("explain: %+v", v)
		}
	}
	r := ask(t, New(Options{Kinds: objectKinds, Rules: rules.Settings{}}), ValidateObjectsPath, request(toJSON(t, "metadata: {name: main, namespace: demo}\nspec: "+spec), "prometheuses v1"))
	if !r.Allowed || !slices.ContainsFunc(r.Warnings, func(warning string) bool { return strings.HasSuffix(warning, ": "+workload) }) {
		t.Errorf("webhook: %+v", r)
	}
}

// checkEvent checks an Event, and the finding from which it was made.
func checkEvent(t *testing.T, kind *engine.Kind, v fragments.Result, want, note string) {
	t.Helper()
	if !strings.HasSuffix(note, `"demo/a" was rejected by `+kind.Kind+" demo/main: "+want) {
		t.Errorf("Event: %q, want %q", note, want)
	}
	if all := faults.Of(v.Err); len(all) != 1 || all[0].String() != want {
		t.Errorf("findings %+v, want %q", all, want)
	}
}

// explained returns why a workload rejects object demo/a in a cluster, according to explain.
func explained(t *testing.T, objects *manifests.Objects, kinds []*engine.Kind, kind string) string {
	t.Helper()
	var out []string
	for _, v := range explanation(t, objects, kinds, kind).Workloads {
		if v.Reason == explain.Rejected {
			out = append(out, v.Message)
		}
	}
	return strings.Join(out, "\n")
}

// explanation returns what explain reports about object demo/a in a cluster.
func explanation(t *testing.T, objects *manifests.Objects, kinds []*engine.Kind, kind string) explain.Report {
	t.Helper()
	var setups []engine.Setup
	for _, k := range kinds {
		setups = append(setups, engine.Setup{Kind: k})
	}
	name, err := explain.ParseName(kinds, kind, "demo/a")
	if err != nil {
		t.Fatal(err)
	}
	q, err := explain.FromManifests(objects, nil, setups, name)
	if err != nil {
		t.Fatal(err)
	}
	q.Findings = nil // of the manifests
	return explain.Explain(q, informer.Namespaces{})
}
