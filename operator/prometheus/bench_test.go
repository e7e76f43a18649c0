package prometheus

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/document"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// monitors are ServiceMonitors as people write them, in 50 namespaces.
func monitors(n int) []*v1.ServiceMonitor {
	out := make([]*v1.ServiceMonitor, n)
	for i := range out {
		m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("team-%d", i%50), Name: fmt.Sprintf("app-%d", i), UID: types.UID(fmt.Sprint(i)), Generation: 1,
			Labels: map[string]string{"team": fmt.Sprint(i % 50), "app": fmt.Sprintf("app-%d", i)},
		}}
		m.Spec.Selector = metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%d", i)}}
		m.Spec.Endpoints = []v1.Endpoint{{Port: "http", Interval: "30s"}, {Port: "admin", Path: "/admin/metrics"}}
		out[i] = m
	}
	return out
}

// pass is a gatherer over monitors that keeps what the operator keeps.
func pass(all []*v1.ServiceMonitor) (*gatherer, *v1.Prometheus) {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "team-0", Name: "main", UID: "p", Generation: 1}}
	p.Spec.ServiceMonitorSelector, p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	cluster := Cluster{
		NamespaceLabels: func(string) (labels.Set, bool) { return nil, true },
		ServiceMonitors: slices.Values(all),
		PodMonitors:     slices.Values[[]*v1.PodMonitor](nil),
		PrometheusRules: slices.Values[[]*v1.PrometheusRule](nil),
		References:      &assets.Static{},
		RuleConfigMaps:  func(string, string) []*corev1.ConfigMap { return nil },
		StatefulSets:    func(string, string) []*appsv1.StatefulSet { return nil },
		Secrets:         func(string) []string { return nil },
	}
	return &gatherer{
		cluster: cluster, capabilities: promconfig.Capabilities{EndpointSlice: true},
		compilers: newCompilers(func([]assets.Dependency) bool { return true }),
		monitors:  &recall[*CompiledMonitor]{}, ruleFiles: &recall[*CompiledRule]{},
		unmanaged: func(*v1.Prometheus) bool { return false },
		frame: func(p *v1.Prometheus, s *promconfig.Settings, rules []string) (promconfig.Frame, error) {
			return promconfig.CompileServer(p, s, rules, cluster.References)
		},
	}, p
}

// BenchmarkOneChange is one pass of an owner of which one monitor has changed.
func BenchmarkOneChange(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("monitors=%d", n), func(b *testing.B) {
			all := monitors(n)
			g, p := pass(all)
			var doc document.Assembler
			run := func() string {
				in, err := g.Gather(p, time.Time{})
				if err != nil {
					b.Fatal(err)
				}
				plan, err := Desired(p, in, benchConfig, &doc)
				if err != nil {
					b.Fatal(err)
				}
				return plan.Hash
			}
			last := run()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				changed := all[n/2].DeepCopy()
				changed.Generation++
				changed.Spec.Endpoints[0].Path = fmt.Sprintf("/metrics/%d", i)
				all[n/2] = changed
				hash := run()
				if hash == last {
					b.Fatal("the change made no difference")
				}
				last = hash
			}
		})
	}
}

// BenchmarkFirst is the first pass of an owner.
func BenchmarkFirst(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("monitors=%d", n), func(b *testing.B) {
			all := monitors(n)
			b.ReportAllocs()
			for b.Loop() {
				g, p := pass(all)
				in, err := g.Gather(p, time.Time{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := Desired(p, in, benchConfig, &document.Assembler{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var benchConfig = workload.Config{PrometheusBaseImage: "prometheus", ConfigReloaderImage: "reloader:v1", RulesReloaderImage: "rules:v1"}
