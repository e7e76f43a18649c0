package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/live"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// thanosImage is the default image of ThanosRulers and sidecars.
const thanosImage = "quay.io/thanos/thanos:" + wellknown.DefaultThanosVersion

var (
	rulerImagesOnce sync.Once
	rulerImagesErr  error
)

// loadRulerImages loads the images of testdata/thanosruler.yaml for the first test that needs them.
func (n node) loadRulerImages(t *testing.T) {
	t.Helper()
	n.loadAlertmanagerImage(t)
	rulerImagesOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
		defer cancel()
		rulerImagesErr = n.LoadThanos(ctx, thanosImage)
	})
	if rulerImagesErr != nil {
		t.Fatal(rulerImagesErr)
	}
}

var (
	mainPods  = []string{"thanos-ruler-main-0", "thanos-ruler-main-1"}
	rulerPods = append(slices.Clone(mainPods), "thanos-ruler-through-0")
)

// Fields of ThanosRuler: replicas, evaluationInterval, ruleSelector, queryEndpoints, alertmanagersUrl, alertQueryUrl,
// labels; of Prometheus: thanos. Rules are live immediately and alerts arrive while the operator restarts; an invalid
// PrometheusRule is rejected alone; a deleted ThanosRuler leaves nothing behind.
func TestThanosRuler(t *testing.T) {
	n := start(t)
	n.loadRulerImages(t)
	t.Parallel()
	s := n.space(t, "ruler")
	o := s.operatorOf(t, "--config-reloader-cpu-limit=0", "--feature-gates=StatusForConfigurationResources=true")
	s.web(t, "replicas: 1, thanos: {}")
	s.apply(t, s.fill(manifests(t, "thanosruler.yaml"), "THANOS-IMAGE", thanosImage, "ALERTMANAGER-IMAGE", alertmanagerImage))
	s.rolledOut(t, "web", "prometheus-web-0")
	s.rolledOutWith(t, "thanos-ruler=through", rulerPods[2:]...)
	before := identities(s.rolledOutWith(t, "thanos-ruler=main", mainPods...))
	s.rulersRun(t, "sum(up)", rulerPods...)
	s.evaluates(t, rulerPods...)
	s.alertArrives(t)
	s.rulerSays(t, "main", "Available=True Reconciled=True 2")
	s.bound(t, "ruler", "prometheuses/web=True thanosrulers/main=True thanosrulers/through=True")
	g := s.guardRulers(t, "records", "alerts")

	s.rulesAreLiveAtOnce(t)
	s.badRuleIsRejectedAlone(t)
	s.killedDuring(t, o, step{name: "change a rule", change: func(t *testing.T, s space) { s.changeRule(t, "ruler", "sum(up) * 10") }})
	s.changeRule(t, "ruler", "sum(up) * 11")
	o.start(t)
	s.rulersRun(t, "sum(up) * 11", rulerPods...)
	g.end(t)
	pods, err := s.podsWith(t.Context(), "thanos-ruler=main")
	if diff := cmp.Diff(before, identities(pods)); err != nil || diff != "" {
		t.Errorf("pods were restarted (%v): was -, is +\n%s", err, diff)
	}

	s.rulerIsDeleted(t)
}

// ruler returns the Thanos Ruler in a pod.
func (s space) ruler(pod string) *live.Prometheus { return s.proxy.Prometheus(s.name, pod, 10902) }

// guardedRuler has rules but no configuration endpoint.
type guardedRuler struct{ *live.Prometheus }

func (guardedRuler) Config(context.Context) (string, error) { return "", nil }

// guardRulers starts a guard for the rulers of "main".
func (s space) guardRulers(t *testing.T, groups ...string) *guard {
	t.Helper()
	g := &guard{servers: map[string]guarded{}, groups: groups}
	for _, pod := range mainPods {
		g.servers[pod] = guardedRuler{s.ruler(pod)}
	}
	return g.begin(t)
}

// rulersRun waits until the rulers run a rule with the expression.
func (s space) rulersRun(t *testing.T, expr string, pods ...string) {
	t.Helper()
	for _, pod := range pods {
		until(t, fmt.Sprintf("rule %q in %s/%s", expr, s.name, pod), patience, func(ctx context.Context) (bool, error) {
			return s.ruler(pod).HasRule(ctx, expr)
		})
	}
}

// evaluates waits until the rulers have evaluated all their rules, which requires responses to their queries.
func (s space) evaluates(t *testing.T, pods ...string) {
	t.Helper()
	for _, pod := range pods {
		until(t, "evaluation in "+pod, patience, func(ctx context.Context) (bool, error) {
			groups, err := s.ruler(pod).RuleGroups(ctx)
			if err != nil || len(groups) == 0 {
				return false, errors.Join(err, errors.New("no groups"))
			}
			for _, g := range groups {
				for _, r := range g.Rules {
					if r.Health != "ok" {
						return false, fmt.Errorf("rule %s is %s: %s", r.Name, r.Health, r.LastError)
					}
				}
			}
			return true, nil
		})
	}
}

// alertArrives waits until the Alertmanager has the alert of both replicas, deduplicated.
func (s space) alertArrives(t *testing.T) {
	t.Helper()
	until(t, "alert", patience, func(ctx context.Context) (bool, error) {
		alerts, err := s.proxy.Alertmanager(s.name, "alertmanager", 9093).Alerts(ctx)
		if err != nil || len(alerts) != 1 {
			return false, fmt.Errorf("%d alerts (%v)", len(alerts), err)
		}
		want := map[string]string{"alertname": "Always", "severity": "none", "cluster": "e2e"}
		if got := alerts[0]; !maps.Equal(got.Labels, want) || !strings.HasPrefix(got.GeneratorURL, "http://query.example/graph?") {
			return false, fmt.Errorf("alert %v, want %v", got, want)
		}
		return true, nil
	})
}

// rulerSays waits until the status of a ThanosRuler has these conditions and number of available replicas.
func (s space) rulerSays(t *testing.T, name, want string) {
	t.Helper()
	s.workloadSays(t, "thanosruler/"+name, want)
}

// workloadSays is rulerSays for "<kind>/<name>".
func (s space) workloadSays(t *testing.T, workload, want string) {
	t.Helper()
	until(t, "status of "+workload, patience, func(context.Context) (bool, error) {
		got := s.in(t, "get", workload, "-o", "jsonpath="+conditions+`{.status.availableReplicas}`)
		return got == want, fmt.Errorf("it is %q, want %q", got, want)
	})
}

// bound waits until the status of a PrometheusRule lists exactly these workloads, and whether each accepts it.
func (s space) bound(t *testing.T, rule, want string) {
	t.Helper()
	s.boundTo(t, "prometheusrule/"+rule, want)
}

// boundTo is bound for "<kind>/<name>".
func (s space) boundTo(t *testing.T, object, want string) {
	t.Helper()
	until(t, "bindings of "+object, patience, func(context.Context) (bool, error) {
		got := strings.Fields(s.in(t, "get", object, "-o",
			`jsonpath={range .status.bindings[*]}{.resource}/{.name}={.conditions[?(@.type=="Accepted")].status} {end}`))
		slices.Sort(got)
		return slices.Equal(got, strings.Fields(want)), fmt.Errorf("they are %q, want %q", got, want)
	})
}

// changeRule replaces the expression of the first rule of an object.
func (s space) changeRule(t *testing.T, rule, expr string) {
	t.Helper()
	s.in(t, "patch", "prometheusrule", rule, "--type=json", "-p",
		fmt.Sprintf(`[{"op":"replace","path":"/spec/groups/0/rules/0/expr","value":%q}]`, expr))
}

// rulesAreLiveAtOnce changes a rule several times and measures the time until both rulers run it.
func (s space) rulesAreLiveAtOnce(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(latencySpacing)
	defer tick.Stop()
	var took []time.Duration
	for i := range changes {
		<-tick.C
		expr, began := fmt.Sprintf("sum(up) + %d", i), time.Now()
		s.changeRule(t, "ruler", expr)
		s.rulersRun(t, expr, mainPods...)
		took = append(took, time.Since(began).Round(10*time.Millisecond))
	}
	slices.Sort(took)
	t.Logf("from the start of kubectl until both rulers show the change: %s", took)
	if median := took[len(took)/2]; median > latencyLimit {
		t.Errorf("the median change took %s, want at most %s", median, latencyLimit)
	}
}

// badRuleIsRejectedAlone adds a PrometheusRule that does not parse, changes another one, and fixes the first.
func (s space) badRuleIsRejectedAlone(t *testing.T) {
	t.Helper()
	s.apply(t, `
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: bad, namespace: NAMESPACE, labels: {for: rulers}}
spec: {groups: [{name: bad, rules: [{record: "bad:sum", expr: "sum("}]}]}
`)
	s.bound(t, "bad", "prometheuses/web=False thanosrulers/main=False thanosrulers/through=False")
	until(t, "Event about the bad rule object", patience, func(context.Context) (bool, error) {
		got := s.in(t, "get", "events", "--field-selector=involvedObject.name=bad,reason=InvalidConfiguration", "-o",
			`jsonpath={range .items[*]}{.related.kind}/{.related.name} {end}`)
		return strings.Contains(got, "ThanosRuler/main"), fmt.Errorf("Events are about %q", got)
	})
	s.changeRule(t, "ruler", "sum(up) * 2")
	s.rulersRun(t, "sum(up) * 2", rulerPods...)
	s.bound(t, "ruler", "prometheuses/web=True thanosrulers/main=True thanosrulers/through=True")
	s.changeRule(t, "bad", "sum(up) * 3")
	s.rulersRun(t, "sum(up) * 3", rulerPods...)
	s.bound(t, "bad", "prometheuses/web=True thanosrulers/main=True thanosrulers/through=True")
}

// rulerIsDeleted deletes one ThanosRuler, which does not affect the other, and then the other one.
func (s space) rulerIsDeleted(t *testing.T) {
	t.Helper()
	s.in(t, "delete", "thanosruler", "main", "--wait=true")
	s.bound(t, "ruler", "prometheuses/web=True thanosrulers/through=True")
	s.nothingNamed(t, "thanos-ruler-main")
	s.changeRule(t, "ruler", "sum(up) * 4")
	s.rulersRun(t, "sum(up) * 4", rulerPods[2:]...)
	s.rulerSays(t, "through", "Available=True Reconciled=True 1")
	if ports := s.in(t, "get", "service", "thanos-ruler-operated", "-o", "jsonpath={.spec.ports[*].name}"); ports != "web grpc" {
		t.Errorf("ports of the Service: %s", ports)
	}

	s.in(t, "delete", "thanosruler", "through", "--wait=true")
	s.bound(t, "ruler", "prometheuses/web=True")
	s.nothingNamed(t, "thanos-ruler")
	s.says(t, "web", conditions, "Available=True Reconciled=True")
}

// nothingNamed waits until no object of the operator has a name with this prefix.
func (s space) nothingNamed(t *testing.T, prefix string) {
	t.Helper()
	until(t, "end of "+prefix, 2*patience, func(context.Context) (bool, error) {
		left := s.in(t, "get", "secrets,configmaps,services,statefulsets,controllerrevisions,pods", "-o", "name")
		return !strings.Contains(left, "/"+prefix), fmt.Errorf("left are %s", left)
	})
}
