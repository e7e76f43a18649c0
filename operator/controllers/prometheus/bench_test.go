package prometheus

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// sizes are the numbers of monitors and rule objects to measure. The cost of one change
// must not be proportional to them.
var sizes = []int{100, 1000, 10000}

// serviceMonitors returns typical ServiceMonitors in 50 namespaces, in the order of the
// store.
func serviceMonitors(n int) []*v1.ServiceMonitor {
	out := make([]*v1.ServiceMonitor, n)
	for i := range out {
		m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("team-%d", i%50), Name: fmt.Sprintf("app-%d", i), UID: types.UID(fmt.Sprint(i)), Generation: 1, ResourceVersion: "1",
			Labels: map[string]string{"team": fmt.Sprint(i % 50), "app": fmt.Sprintf("app-%d", i)},
		}}
		m.Spec.Selector = metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%d", i)}}
		m.Spec.Endpoints = []v1.Endpoint{{Port: "http", Interval: "30s"}, {Port: "admin", Path: "/admin/metrics"}}
		out[i] = m
	}
	slices.SortFunc(out, func(a, b *v1.ServiceMonitor) int { return informer.CompareKeys(a, b) })
	return out
}

// alertRules returns PrometheusRules with 20 alerts each.
func alertRules(n int) []*v1.PrometheusRule {
	out := make([]*v1.PrometheusRule, n)
	for i := range out {
		r := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("team-%d", i%50), Name: fmt.Sprintf("alerts-%d", i), UID: types.UID(fmt.Sprint(i)), Generation: 1, ResourceVersion: "1",
		}}
		group := v1.RuleGroup{Name: "alerts"}
		for a := range 20 {
			group.Rules = append(group.Rules, v1.Rule{
				Alert: fmt.Sprintf("Alert%d", a), Expr: intstr.FromString(fmt.Sprintf(`rate(errors_total{app="app-%d"}[5m]) > %d`, i, a)),
				For: "10m", Labels: map[string]string{"severity": "warning"},
				Annotations: map[string]string{"summary": "{{ $labels.app }} has {{ $value }} errors a second."},
			})
		}
		r.Spec.Groups = []v1.RuleGroup{group}
		out[i] = r
	}
	slices.SortFunc(out, func(a, b *v1.PrometheusRule) int { return informer.CompareKeys(a, b) })
	return out
}

// bench is a workload with the state that the operator keeps between reconciliations.
type bench struct {
	*gatherer
	owner   *v1.Prometheus
	cluster engine.Cluster
}

// pass returns a gatherer over monitors with the state that the operator keeps.
func pass(all *[]*v1.ServiceMonitor) *bench {
	return benches(1, all, &[]*v1.PrometheusRule{})[0]
}

// benches returns workloads of one family that select the same objects.
func benches(n int, services *[]*v1.ServiceMonitor, alerts *[]*v1.PrometheusRule) []*bench {
	servers, _ := Kinds(Options{Workload: benchConfig, Capabilities: promconfig.Capabilities{EndpointSlice: true}}, &rules.Cache{})
	out := make([]*bench, n)
	for i := range out {
		out[i] = newBench(servers, fmt.Sprintf("main-%d", i), services, alerts)
	}
	return out
}

func newBench(servers *engine.Kind, name string, services *[]*v1.ServiceMonitor, alerts *[]*v1.PrometheusRule) *bench {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "team-0", Name: name, UID: types.UID(name), Generation: 1}}
	p.Spec.ServiceMonitorSelector, p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	p.Spec.RuleSelector, p.Spec.RuleNamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	return &bench{
		gatherer: servers.Open(types.NamespacedName{Namespace: "team-0", Name: name}).(*gatherer), owner: p,
		cluster: engine.Cluster{
			NamespaceLabels: func(string) (labels.Set, bool) { return nil, true },
			Objects: func(kind string) iter.Seq[catalog.Object] {
				return (&selectable{services: *services, rules: *alerts}).objects(kind)
			},
			References: &assets.Static{},
		}.Offline(),
	}
}

// run runs one reconciliation without writing, and returns the hash of the desired state.
func (b *bench) run(tb testing.TB) string {
	tb.Helper()
	in, err := b.gather(forServer(b.owner), b.cluster)
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := in.Plan()
	if err != nil {
		tb.Fatal(err)
	}
	b.cluster.Live.ConfigMaps = b.cluster.Live.ConfigMaps[:0]
	for name, files := range plan.files {
		b.cluster.Live.ConfigMaps = append(b.cluster.Live.ConfigMaps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: files})
	}
	return plan.Hash
}

// changeMonitor replaces a monitor with its i-th version.
func changeMonitor(all []*v1.ServiceMonitor, i int) {
	m := all[len(all)/2].DeepCopy()
	m.Generation++
	m.ResourceVersion = fmt.Sprint(m.Generation)
	m.Spec.Endpoints[0].Path = fmt.Sprintf("/metrics/%d", i)
	all[len(all)/2] = m
}

// changeRule replaces a rule object with its i-th version.
func changeRule(all []*v1.PrometheusRule, i int) {
	r := all[len(all)/2].DeepCopy()
	r.Generation++
	r.ResourceVersion = fmt.Sprint(r.Generation)
	r.Spec.Groups[0].Rules[0].For = v1.Duration(fmt.Sprintf("%dm", i+1))
	all[len(all)/2] = r
}

// repeat measures reconciliations of the workloads, each after a change.
func repeat(b *testing.B, owners []*bench, change func(i int)) {
	last := make([]string, len(owners))
	for i, o := range owners {
		last[i] = o.run(b)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		change(i)
		for j, o := range owners {
			hash := o.run(b)
			if hash == last[j] {
				b.Fatal("the change made no difference")
			}
			last[j] = hash
		}
	}
}

// BenchmarkOneChange measures a reconciliation after a change of one selected object.
func BenchmarkOneChange(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("monitors=%d", n), func(b *testing.B) {
			services, alerts := serviceMonitors(n), []*v1.PrometheusRule(nil)
			repeat(b, benches(1, &services, &alerts), func(i int) { changeMonitor(services, i) })
		})
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			services, alerts := []*v1.ServiceMonitor(nil), alertRules(n)
			repeat(b, benches(1, &services, &alerts), func(i int) { changeRule(alerts, i) })
		})
	}
}

// BenchmarkFiftyOwners measures the reconciliations of 50 workloads that select the same
// objects, after a change of one object.
func BenchmarkFiftyOwners(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("monitors=%d", n), func(b *testing.B) {
			services, alerts := serviceMonitors(n), alertRules(n/10)
			repeat(b, benches(50, &services, &alerts), func(i int) { changeMonitor(services, i) })
		})
	}
}

// BenchmarkFirst measures the first reconciliation, which compiles, assembles and
// compresses everything.
func BenchmarkFirst(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("monitors=%d", n), func(b *testing.B) {
			services, alerts := serviceMonitors(n), []*v1.PrometheusRule(nil)
			first(b, &services, &alerts)
		})
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			services, alerts := []*v1.ServiceMonitor(nil), alertRules(n)
			first(b, &services, &alerts)
		})
	}
}

func first(b *testing.B, services *[]*v1.ServiceMonitor, alerts *[]*v1.PrometheusRule) {
	b.ReportAllocs()
	for b.Loop() {
		benches(1, services, alerts)[0].run(b)
	}
}

// BenchmarkNoChange measures a reconciliation without any change.
func BenchmarkNoChange(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("monitors=%d", n), func(b *testing.B) {
			services, alerts := serviceMonitors(n), alertRules(n/10)
			o := benches(1, &services, &alerts)[0]
			o.run(b)
			last := o.run(b)
			b.ReportAllocs()
			for b.Loop() {
				if o.run(b) != last {
					b.Fatal("something changed")
				}
			}
		})
	}
}

// BenchmarkSelected measures the selection of one team's monitors among all.
func BenchmarkSelected(b *testing.B) {
	servers, _ := Kinds(Options{}, &rules.Cache{})
	for _, n := range sizes {
		b.Run(fmt.Sprintf("monitors=%d", n), func(b *testing.B) {
			p := &v1.Prometheus{}
			p.Spec.ServiceMonitorSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "7"}}
			p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{}
			found, err := servers.Selectors(p)
			if err != nil {
				b.Fatal(err)
			}
			cluster := engine.Cluster{
				NamespaceLabels: func(string) (labels.Set, bool) { return labels.Set{}, true },
				Objects:         (&selectable{services: serviceMonitors(n)}).objects,
			}
			b.ReportAllocs()
			for b.Loop() {
				if got := engine.Selected[*v1.ServiceMonitor](cluster, found, catalog.ServiceMonitor); len(got) != n/50 {
					b.Fatalf("%d selected", len(got))
				}
			}
		})
	}
}

var benchConfig = workload.Config{PrometheusBaseImage: "prometheus", ConfigReloaderImage: "firekeeper/config-reloader:v1", RulesReloaderImage: "rules:v1"}
