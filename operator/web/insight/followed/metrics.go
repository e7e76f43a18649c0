package followed

import promclient "github.com/prometheus/client_golang/prometheus"

var (
	informersMetric = promclient.NewDesc("prometheus_operator_web_informers", "Informers that run because somebody asks the HTTP API or its pages for targets.", nil, nil)
	workloadsMetric = promclient.NewDesc("prometheus_operator_web_followed_workloads", "Workloads whose targets are kept current because somebody asks for them.", nil, nil)
	targetsMetric   = promclient.NewDesc("prometheus_operator_web_followed_targets", "Scraped targets of these workloads.", nil, nil)
	questionsMetric = promclient.NewDesc("prometheus_operator_web_target_requests_total", "Questions about targets that the HTTP API and its pages answered.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *Source) Describe(ch chan<- *promclient.Desc) {
	for _, d := range []*promclient.Desc{informersMetric, workloadsMetric, targetsMetric, questionsMetric} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *Source) Collect(ch chan<- promclient.Metric) {
	informers, _ := s.Groups.Size()
	workloads, _, scraped := s.size()
	gauge := func(d *promclient.Desc, n int) {
		ch <- promclient.MustNewConstMetric(d, promclient.GaugeValue, float64(n))
	}
	gauge(informersMetric, informers)
	gauge(workloadsMetric, workloads)
	gauge(targetsMetric, scraped)
	ch <- promclient.MustNewConstMetric(questionsMetric, promclient.CounterValue, float64(s.questions.Load()))
}
