package prometheus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// word returns a random name. Numbers would compress too well, and a large configuration
// would look small.
func word(r *rand.Rand) string {
	syllables := []string{"pay", "ment", "cart", "ship", "user", "auth", "feed", "sync", "log", "mail", "stock", "price", "edge", "core", "bill", "rank"}
	name := syllables[r.IntN(len(syllables))] + syllables[r.IntN(len(syllables))]
	return fmt.Sprintf("%s-%s-%06x", name, syllables[r.IntN(len(syllables))], r.IntN(1<<24))
}

// distinctMonitors returns ServiceMonitors that have little in common, in 500 namespaces.
func distinctMonitors(n int) []*v1.ServiceMonitor {
	r := rand.New(rand.NewPCG(1, 2))
	namespaces := make([]string, 500)
	for i := range namespaces {
		namespaces[i] = "team-" + word(r)
	}
	out := make([]*v1.ServiceMonitor, n)
	for i := range out {
		app := word(r)
		m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespaces[r.IntN(len(namespaces))], Name: app, UID: types.UID(fmt.Sprint(i)), Generation: 1,
		}}
		m.Spec.Selector = metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": app, "tier": word(r)}}
		m.Spec.Endpoints = []v1.Endpoint{{Port: "http-" + word(r)[:4], Interval: "30s", Path: "/" + word(r) + "/metrics"}}
		out[i] = m
	}
	slices.SortFunc(out, func(a, b *v1.ServiceMonitor) int { return informer.CompareKeys(a, b) })
	return out
}

// distinctRules returns PrometheusRules of about 10 kB each.
func distinctRules(n int) []*v1.PrometheusRule {
	r := rand.New(rand.NewPCG(3, 4))
	out := make([]*v1.PrometheusRule, n)
	for i := range out {
		rule := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Namespace: "team-" + word(r), Name: word(r), UID: types.UID(fmt.Sprint(i)), Generation: 1}}
		group := v1.RuleGroup{Name: word(r)}
		for range 25 {
			app := word(r)
			group.Rules = append(group.Rules, v1.Rule{
				Alert: strings.ReplaceAll(word(r), "-", "_"), For: "10m", Labels: map[string]string{"severity": "warning", "team": word(r)},
				Expr:        intstr.FromString(fmt.Sprintf(`sum by (instance) (rate(http_requests_total{app=%q,code=~"5.."}[5m])) / sum by (instance) (rate(http_requests_total{app=%q}[5m])) > 0.%02d`, app, app, r.IntN(100))),
				Annotations: map[string]string{"summary": "{{ $labels.instance }} of " + app + " answers with errors.", "runbook": "https://runbooks.example.org/" + word(r)},
			})
		}
		rule.Spec.Groups = []v1.RuleGroup{group}
		out[i] = rule
	}
	slices.SortFunc(out, func(a, b *v1.PrometheusRule) int { return informer.CompareKeys(a, b) })
	return out
}

// ruleObjectsOf20MiB is the number of distinctRules with a total size of 20 MiB.
const ruleObjectsOf20MiB = 2000

// BenchmarkOversize measures a change in a workload with 50,000 monitors and 20 MiB of
// rules.
func BenchmarkOversize(b *testing.B) {
	services, alerts := distinctMonitors(50_000), distinctRules(ruleObjectsOf20MiB)
	owners := benches(1, &services, &alerts)
	owners[0].run(b) // fills the rule ConfigMaps, which the next reconciliation finds
	b.Run("monitor", func(b *testing.B) {
		repeat(b, owners, func(i int) { changeMonitor(services, i) })
	})
	b.Run("rule", func(b *testing.B) {
		repeat(b, owners, func(i int) { changeRule(alerts, i) })
	})
}
