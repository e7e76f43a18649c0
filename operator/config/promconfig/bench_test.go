package promconfig

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

func benchMonitors(tb testing.TB, n int) []*v1.ServiceMonitor {
	out := make([]*v1.ServiceMonitor, n)
	for i := range out {
		m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%d", i%20), Name: fmt.Sprintf("app-%d", i)}}
		spec := fmt.Sprintf(`
selector: {matchLabels: {app.kubernetes.io/name: app-%d, app.kubernetes.io/part-of: shop}}
namespaceSelector: {matchNames: [a, b]}
endpoints:
- port: metrics
  interval: 30s
  scheme: https
  tlsConfig: {insecureSkipVerify: true}
  relabelings:
  - {sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node, action: replace}
  - {regex: "tmp_.+", action: labeldrop}
  metricRelabelings:
  - {sourceLabels: [__name__], regex: "go_(gc|memstats)_.+", action: drop}
`, i)
		if err := kyaml.UnmarshalStrict([]byte(spec), &m.Spec); err != nil {
			tb.Fatal(err)
		}
		out[i] = m
	}
	return out
}

func BenchmarkCompileServiceMonitor(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("monitors=%d", n), func(b *testing.B) {
			monitors, s, r := benchMonitors(b, n), settingsOf(b, `{}`), &assets.Static{}
			b.ReportAllocs()
			for b.Loop() {
				for _, m := range monitors {
					if f := CompileServiceMonitor(m, s, r); f.Err != nil {
						b.Fatal(f.Err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/monitor")
		})
	}
}

func BenchmarkCompileServer(b *testing.B) {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
	r := &assets.Static{}
	b.ReportAllocs()
	for b.Loop() {
		s, err := ServerSettings(p, everything)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := CompileServer(p, s, []string{"a", "b", "c"}, r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAdditional compiles the frame of a Prometheus with two hundred additional jobs,
// with and without line numbers. These are needed if a job is invalid or contains variables.
func BenchmarkAdditional(b *testing.B) {
	jobs := ""
	for i := range 200 {
		jobs += fmt.Sprintf("- job_name: job-%d\n  scrape_interval: 30s\n  static_configs: [{targets: ['a-%d:80', 'b-%d:80'], labels: {team: a}}]\n  relabel_configs: [{action: drop, source_labels: [a], regex: b}]\n", i, i, i)
	}
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
	p.Spec.AdditionalScrapeConfigs = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}
	for name, more := range map[string]string{"plain": "", "variable": "- {job_name: $(POD_NAME)}\n"} {
		b.Run(name, func(b *testing.B) {
			r := &assets.Static{}
			r.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, StringData: map[string]string{"k": jobs + more}})
			s := settingsOf(b, `{}`)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := CompileServer(p, s, nil, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
