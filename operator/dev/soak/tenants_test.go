package soak

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

// tenant is a namespace, with one object in each slot at most.
type tenant struct {
	namespace string
	slots     []slot
	hostile   *hostile.Source
}

// slot is an object that comes, changes and goes.
type slot struct {
	kind    schema.GroupVersionResource
	name    string
	content func(t *tenant, version int) string
	alerts  bool // a PrometheusRule, whose alert has the version in its name
	version int  // of the object, 0: there is none
	count   int  // of versions so far
}

func resource(row *catalog.Row) schema.GroupVersionResource {
	return row.GroupVersion().WithResource(row.Resource)
}

const anchors = `
apiVersion: v1
kind: Namespace
metadata: {name: TENANT, labels: {soak: "yes"}}
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: TENANT}
stringData: {user: somebody, password: first}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: anchor, namespace: TENANT}
spec:
  selector: {matchLabels: {app: app}}
  endpoints: [{port: http, basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}}]
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: anchor, namespace: TENANT}
spec:
  groups:
  - name: anchor-TENANT
    rules: [{alert: Anchor, expr: vector(1), labels: {namespace: TENANT}}]
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: anchor, namespace: TENANT}
spec:
  route: {receiver: hook, groupBy: [alertname], groupWait: 1s, groupInterval: 5s, repeatInterval: 30s}
  receivers:
  - name: hook
    webhookConfigs: [{url: "RECEIVER/TENANT", sendResolved: true}]
`

// changing are the slots of each tenant.
var changing = []slot{
	{kind: resource(catalog.ServiceMonitor), name: "plain", content: monitorVersion},
	{kind: resource(catalog.ServiceMonitor), name: "secret", content: func(t *tenant, n int) string {
		return strings.Replace(monitorVersion(t, n), "{port:", "{basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}, port:", 1)
	}},
	{kind: resource(catalog.PodMonitor), name: "pods", content: version(`spec: {selector: {matchLabels: {app: app}}, podMetricsEndpoints: [{port: p%d}]}`)},
	{kind: resource(catalog.Probe), name: "site", content: version(`spec: {prober: {url: prober.example}, targets: {staticConfig: {static: [host%d.example]}}}`)},
	{kind: resource(catalog.ScrapeConfig), name: "hosts", content: version(`spec: {staticConfigs: [{targets: ["host%d.example:9100"]}]}`)},
	{kind: resource(catalog.PrometheusRule), name: "alerts-a", content: alertVersion, alerts: true},
	{kind: resource(catalog.PrometheusRule), name: "alerts-b", content: alertVersion, alerts: true},
	{kind: resource(catalog.PrometheusRule), name: "records", content: version(`spec: {groups: [{name: records, rules: [{record: "soak:up%d", expr: sum(up)}]}]}`)},
	{kind: resource(catalog.AlertmanagerConfig), name: "other", content: version(`spec: {route: {receiver: hook, matchers: [{name: team, value: t%d}]}, receivers: [{name: hook, webhookConfigs: [{url: "http://nobody.example/"}]}]}`)},
	{kind: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, name: "login", content: func(t *tenant, n int) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: %s}\nstringData: {user: somebody, password: p%d}\n", t.namespace, n)
	}},
	// Invalid objects that the API server accepts.
	{kind: resource(catalog.PrometheusRule), name: "bad-rule", content: version(`spec: {groups: [{name: bad, rules: [{record: "bad:%d", expr: "sum(("}]}]}`)},
	{kind: resource(catalog.ServiceMonitor), name: "bad-monitor", content: version(`spec: {selector: {}, endpoints: [{port: p%d, basicAuth: {username: {name: nowhere, key: user}}}]}`)},
	{kind: resource(catalog.AlertmanagerConfig), name: "bad-route", content: version(`spec: {route: {receiver: nobody%d}, receivers: [{name: hook}]}`)},
	{kind: resource(catalog.ScrapeConfig), name: "bad-relabeling", content: version(`spec: {staticConfigs: [{targets: [a%d]}], relabelings: [{action: replace, regex: "(("}]}`)},
	// Workloads of the tenant, with everything that it has.
	{kind: resource(catalog.Prometheus), name: "own", content: version(`spec: {replicas: 1, scrapeInterval: 3%ds, serviceMonitorSelector: {}, podMonitorSelector: {}, probeSelector: {}, scrapeConfigSelector: {}, ruleSelector: {}}`)},
	{kind: resource(catalog.Alertmanager), name: "own", content: version(`spec: {replicas: 1, retention: 12%dh, alertmanagerConfigSelector: {}}`)},
	{kind: resource(catalog.ThanosRuler), name: "own", content: version(`spec: {replicas: 1, evaluationInterval: 3%ds, ruleSelector: {}, queryEndpoints: [query.example:9090]}`)},
	// One that adversary generates, of any kind.
	{name: "hostile"},
}

// version returns specs that differ by a digit.
func version(spec string) func(*tenant, int) string {
	return func(_ *tenant, n int) string { return fmt.Sprintf(spec, n%10) }
}

func monitorVersion(_ *tenant, n int) string {
	return fmt.Sprintf("spec: {selector: {matchLabels: {app: app}}, endpoints: [{port: p%d}]}", n%10)
}

// alertVersion returns a rule whose alert has a name of its own.
func alertVersion(_ *tenant, n int) string {
	return fmt.Sprintf(`spec: {groups: [{name: alerts, rules: [{alert: "SLOT-%d", expr: vector(1), labels: {namespace: TENANT}}]}]}`, n)
}

// manifest returns a version of the object of a slot.
func (s *slot) manifest(t *tenant, n int) string {
	content := strings.NewReplacer("SLOT", s.name, "TENANT", t.namespace).Replace(s.content(t, n))
	if s.kind.Group == "" {
		return content
	}
	row := catalog.All[slices.IndexFunc(catalog.All, func(r *catalog.Row) bool { return resource(r) == s.kind })]
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: %s, annotations: {operator.prometheus.io/controller-id: %s}}\n%s\n",
		row.GroupVersion(), row.Kind, s.name, t.namespace, id, content)
}

// alert is the name of the alert of the current version.
func (s *slot) alert() string { return fmt.Sprintf("%s-%d", s.name, s.version) }

// newTenant creates a namespace with what stays in it.
func (r *run) newTenant(n int) *tenant {
	t := &tenant{namespace: fmt.Sprintf("soak-%d", n), slots: slices.Clone(changing)}
	var err error
	if t.hostile, err = hostile.New(hostile.Options{Seed: r.seed + uint64(n), Namespace: t.namespace}); err != nil {
		r.t.Fatal(err)
	}
	manifests := strings.NewReplacer("TENANT", t.namespace, "RECEIVER", r.receiver.URL).Replace(anchors)
	for _, one := range strings.Split(manifests, "---") {
		r.insist(func(ctx context.Context) error { return r.environment.TryApply(ctx, one) })
	}
	return t
}

// insist repeats a change until the API server makes or refuses it. Faults end meanwhile, if it is their time, so that it
// does not wait for long at first; later it does, because large objects take time.
func (r *run) insist(change func(context.Context) error) (refused error) {
	r.t.Helper()
	patience := time.Second
	trial.Await(r.t, "a change", func() error {
		r.endFault()
		patience = min(2*patience, 32*time.Second)
		ctx, cancel := context.WithTimeout(r.t.Context(), patience)
		defer cancel()
		err := change(ctx)
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) {
			refused, err = err, nil
		}
		return err
	})
	return refused
}

// change makes one change by a tenant.
func (r *run) change() {
	t := r.tenants[r.rand.IntN(len(r.tenants))]
	s := &t.slots[r.rand.IntN(len(t.slots))]
	switch {
	case s.content == nil:
		r.changeHostile(t, s)
	case s.alerts && s.version > 0 && !r.receiver.fired(t.namespace, s.alert()):
		return // it stays until it has arrived
	case s.version > 0 && s.name != "login" && r.rand.IntN(3) == 0:
		r.insist(func(ctx context.Context) error { return r.environment.TryRemove(ctx, t.namespace, s.kind, s.name) })
		s.version = 0
	default:
		s.count++
		s.version = s.count
		if err := r.insist(func(ctx context.Context) error { return r.environment.TryApply(ctx, s.manifest(t, s.version)) }); err != nil {
			r.t.Errorf("%s %s/%s: %v", s.kind.Resource, t.namespace, s.name, err)
		}
		if s.alerts {
			r.receiver.expect(t.namespace, s.alert())
		}
	}
	r.changes++
}

// changeHostile replaces the hostile object of a tenant, or removes it.
func (r *run) changeHostile(t *tenant, s *slot) {
	if s.version > 0 {
		before := t.hostile.Object(s.version)
		r.insist(func(ctx context.Context) error {
			return r.environment.TryRemove(ctx, t.namespace, s.kind, before.Manifest["metadata"].(hostile.Manifest)["name"].(string))
		})
		s.version = 0
	}
	s.count++
	o := t.hostile.Object(s.count)
	for _, m := range append(o.With, o.Manifest) {
		object := &unstructured.Unstructured{Object: m}
		if r.insist(func(ctx context.Context) error { return r.environment.TryApplyObject(ctx, object) }) != nil {
			return // refused by the CRD or the API server
		}
	}
	s.version, r.hostile = s.count, r.hostile+1
	for _, row := range catalog.All {
		if row.Kind == o.Kind {
			s.kind = resource(row)
		}
	}
}

// shared are the objects that all tenants share.
const shared = `
apiVersion: v1
kind: Namespace
metadata: {name: soak}
---
apiVersion: v1
kind: Secret
metadata: {name: alertmanagers, namespace: soak}
stringData: {config: "- static_configs: [{targets: [ALERTMANAGER]}]"}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: web, namespace: soak, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec:
  version: PROMETHEUS
  scrapeInterval: 30s
  evaluationInterval: 2s
  apiserverConfig: {host: "APISERVER", bearerToken: TOKEN, tlsConfig: {insecureSkipVerify: true}}
  additionalAlertManagerConfigs: {name: alertmanagers, key: config}
  serviceMonitorSelector: {}
  serviceMonitorNamespaceSelector: &tenants {matchLabels: {soak: "yes"}}
  podMonitorSelector: {}
  podMonitorNamespaceSelector: *tenants
  probeSelector: {}
  probeNamespaceSelector: *tenants
  scrapeConfigSelector: {}
  scrapeConfigNamespaceSelector: *tenants
  ruleSelector: {}
  ruleNamespaceSelector: *tenants
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: soak, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec:
  version: AMVERSION
  alertmanagerConfigSelector: {}
  alertmanagerConfigNamespaceSelector: {matchLabels: {soak: "yes"}}
`
