package livetargets

import promclient "github.com/prometheus/client_golang/prometheus"

var (
	informersMetric = promclient.NewDesc("prometheus_operator_web_informers", "Informers that run because a client requested targets from the HTTP API or the pages.", nil, nil)
	workloadsMetric = promclient.NewDesc("prometheus_operator_web_followed_workloads", "Workloads whose targets are kept current because a client requested them recently.", nil, nil)
	targetsMetric   = promclient.NewDesc("prometheus_operator_web_followed_targets", "Scraped targets of these workloads.", nil, nil)
	requestsMetric  = promclient.NewDesc("prometheus_operator_web_target_requests_total", "Requests for targets that the HTTP API and the pages answered.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *Source) Describe(ch chan<- *promclient.Desc) {
	for _, d := range []*promclient.Desc{informersMetric, workloadsMetric, targetsMetric, requestsMetric} {
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
	ch <- promclient.MustNewConstMetric(requestsMetric, promclient.CounterValue, float64(s.requests.Load()))
}
