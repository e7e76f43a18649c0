package rules

import (
	"fmt"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// typical returns an object with n alerting and recording rules of typical size.
func typical(n int) *v1.PrometheusRule {
	g := v1.RuleGroup{Name: "typical", Interval: "30s"}
	for i := range n {
		expr := fmt.Sprintf(`sum by (cluster, namespace, job) (rate(http_requests_total{job=~"api|web",code=~"5..",route!="/healthz%d"}[5m]))
  / on (cluster, namespace, job) group_left
sum by (cluster, namespace, job) (rate(http_requests_total{job=~"api|web"}[5m])) > 0.01`, i)
		if i%2 == 0 {
			g.Rules = append(g.Rules, v1.Rule{
				Record: fmt.Sprintf("job:http_errors:ratio_rate5m_%d", i), Expr: intstr.FromString(expr),
				Labels: map[string]string{"team": "web"},
			})
			continue
		}
		g.Rules = append(g.Rules, v1.Rule{
			Alert: fmt.Sprintf("HighErrorRate%d", i), Expr: intstr.FromString(expr), For: "5m",
			Labels: map[string]string{"severity": "page", "team": "web"},
			Annotations: map[string]string{
				"summary":     "Many errors in {{ $labels.job }}.",
				"description": "{{ $labels.namespace }}/{{ $labels.job }} answers {{ $value | humanizePercentage }} of the requests with an error.",
			},
		})
	}
	return object(g)
}

func BenchmarkCompile(b *testing.B) {
	for _, label := range []string{"", "namespace"} {
		for _, n := range []int{1, 20, 200} {
			b.Run(fmt.Sprintf("enforce=%t/rules=%d", label != "", n), func(b *testing.B) {
				r, s := typical(n), settings("3.13.2")
				s.EnforcedLabel = label
				b.ReportAllocs()
				for b.Loop() {
					if f := Compile(r, s); f.Err != nil {
						b.Fatal(f.Err)
					}
				}
			})
		}
	}
}

// BenchmarkPrometheusReader is the baseline: parsing and checking the same file with Prometheus' parser.
func BenchmarkPrometheusReader(b *testing.B) {
	s := settings("3.13.2")
	file := Compile(typical(20), s).Content
	b.ReportAllocs()
	for b.Loop() {
		if errs := readByPrometheus(file, s); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("team-%03d-rules-%05d-0e7a5a2e-7f53-4c58-a3c9-0d6f1a2b3c4d.yaml", i%50, i)] = text(1500+i%1000, "x")
		}
		var live []Bucket
		for _, s := range Pack(base, nil, wanted(files)).Steps {
			live = append(live, Bucket{Name: s.Name, Files: cloned(s.Files)})
		}
		changed := maps.Clone(files)
		for name := range files {
			changed[name] = text(1600, "y")
			break
		}
		for what, want := range map[string]map[string]string{"nothing": files, "one": changed} {
			b.Run(fmt.Sprintf("files=%d/changed=%s", n, what), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if p := Pack(base, live, wanted(want)); len(p.Steps) > 1 {
						b.Fatal("more than one write")
					}
				}
			})
		}
	}
}

// cloned also copies the digests. In the operator, they are at different addresses than
// those of the fragments, which affects the cost of comparing them.
func cloned(in map[string]string) map[string]string {
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[string([]byte(k))] = string([]byte(v))
	}
	return out
}
