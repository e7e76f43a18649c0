package gate

import (
	"fmt"
	"testing"
)

type benchStep struct {
	Source      []string `yaml:"source_labels,omitempty"`
	Separator   *string  `yaml:"separator,omitempty"`
	Target      string   `yaml:"target_label,omitempty"`
	Regex       string   `yaml:"regex,omitempty"`
	Modulus     uint64   `yaml:"modulus,omitempty"`
	Replacement *string  `yaml:"replacement,omitempty"`
	Action      string   `yaml:"action,omitempty"`
}

type benchJob struct {
	Name        string      `yaml:"job_name"`
	HonorLabels bool        `yaml:"honor_labels"`
	Compression *bool       `yaml:"enable_compression,omitempty" since:"2.49.0"`
	Interval    string      `yaml:"scrape_interval,omitempty"`
	Path        string      `yaml:"metrics_path,omitempty"`
	Scheme      string      `yaml:"scheme,omitempty"`
	Limit       *uint64     `yaml:"sample_limit,omitempty"`
	Protocols   []protocol  `yaml:"scrape_protocols,omitempty" since:"2.49.0"`
	Relabel     []benchStep `yaml:"relabel_configs,omitempty"`
}

func benchJobs(n int) []benchJob {
	var steps []benchStep
	for i := range 20 {
		steps = append(steps, benchStep{
			Source: []string{"__meta_kubernetes_service_label_app", "__meta_kubernetes_service_labelpresent_app"},
			Regex:  fmt.Sprintf("(app-%d);true", i), Target: "service", Replacement: new("${1}"), Action: "keep",
		})
	}
	jobs := make([]benchJob, n)
	for i := range jobs {
		jobs[i] = benchJob{Name: fmt.Sprintf("serviceMonitor/demo/app-%d/0", i), Compression: new(true), Interval: "30s",
			Path: "/metrics", Scheme: "https", Limit: new(uint64(1000)), Protocols: []protocol{"PrometheusProto"}, Relabel: steps}
	}
	return jobs
}

func BenchmarkAppendItems(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			jobs := benchJobs(n)
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				var err error
				if buf, _, err = AppendItems(buf[:0], jobs, target("3.13.2", Server), "scrape_configs"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/job")
		})
	}
}
