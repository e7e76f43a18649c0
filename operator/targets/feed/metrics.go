package feed

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// metrics are the metrics of a server.
type metrics struct {
	mu                                 sync.Mutex
	refusals                           map[int]int
	full, partial, tooSlow, bytesTaken int
	disagreements                      map[targetreport.Kind]int
}

func (m *metrics) refused(code int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refusals == nil {
		m.refusals = map[int]int{}
	}
	m.refusals[code]++
}

func (m *metrics) step(s step, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytesTaken += bytes
	if s.from == (Version{}) {
		m.full++
	} else {
		m.partial++
	}
}

func (m *metrics) disagree(kind targetreport.Kind, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.disagreements == nil {
		m.disagreements = map[targetreport.Kind]int{}
	}
	m.disagreements[kind] += n
}

func (m *metrics) slow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tooSlow++
}

var (
	streamsDesc  = prometheus.NewDesc("prometheus_operator_discovery_streams", "Open streams of pods.", nil, nil)
	listsDesc    = prometheus.NewDesc("prometheus_operator_discovery_lists", "Lists of shards.", nil, nil)
	targetsDesc  = prometheus.NewDesc("prometheus_operator_discovery_targets", "Targets in the lists of all shards.", nil, nil)
	bytesDesc    = prometheus.NewDesc("prometheus_operator_discovery_list_bytes", "Compressed size of the lists of all shards.", nil, nil)
	heldDesc     = prometheus.NewDesc("prometheus_operator_discovery_held_jobs", "Jobs in lists whose targets are held, because they shrank suspiciously.", nil, nil)
	largeDesc    = prometheus.NewDesc("prometheus_operator_discovery_too_large_jobs", "Jobs that are left out of lists, because they have too many targets.", nil, nil)
	leadsDesc    = prometheus.NewDesc("prometheus_operator_discovery_leader", "1 while this replica serves lists, 0 while another one does.", nil, nil)
	stepsDesc    = prometheus.NewDesc("prometheus_operator_discovery_sent_total", "Lists and changes of lists that pods have received.", []string{"type"}, nil)
	sentDesc     = prometheus.NewDesc("prometheus_operator_discovery_sent_bytes_total", "Bytes of lists that pods have received.", nil, nil)
	slowDesc     = prometheus.NewDesc("prometheus_operator_discovery_slow_streams_total", "Streams that ended because the pod did not read them in time, or was gone.", nil, nil)
	disagreeDesc = prometheus.NewDesc("prometheus_operator_discovery_disagreements_total", "Targets about which a list and its Prometheus began to disagree, as pods have reported: "+
		"those in the list that the relabelings in Prometheus drop (dropped), or that it does not know (missing), and those that it scrapes and that are not in the list (unlisted).", []string{"type"}, nil)
	disagreeingDesc = prometheus.NewDesc("prometheus_operator_discovery_disagreements", "Targets about which lists and their Prometheus disagree now, as pods have reported.", nil, nil)
	reportingDesc   = prometheus.NewDesc("prometheus_operator_discovery_reporting_pods", "Pods that follow a list and have reported about it.", nil, nil)
	refusalsDesc    = prometheus.NewDesc("prometheus_operator_discovery_refused_total", "Refused requests of pods by HTTP status.", []string{"code"}, nil)
)

// Describe implements prometheus.Collector.
func (s *Server) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, ch) }

// Collect implements prometheus.Collector.
func (s *Server) Collect(ch chan<- prometheus.Metric) {
	gauge := func(of *prometheus.Desc, n int) {
		ch <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, float64(n))
	}
	counter := func(of *prometheus.Desc, n int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(of, prometheus.CounterValue, float64(n), labels...)
	}
	gauge(streamsDesc, len(s.streams.all()))
	t := s.Feed.totals()
	gauge(listsDesc, t.lists)
	gauge(targetsDesc, t.targets)
	gauge(bytesDesc, t.bytes)
	gauge(heldDesc, t.held)
	gauge(largeDesc, t.tooLarge)
	gauge(leadsDesc, t.leads)
	reporting, disagreeing := s.streams.reported()
	gauge(reportingDesc, reporting)
	gauge(disagreeingDesc, disagreeing)
	m := &s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	counter(stepsDesc, m.full, "full")
	counter(stepsDesc, m.partial, "change")
	counter(sentDesc, m.bytesTaken)
	counter(slowDesc, m.tooSlow)
	for _, kind := range targetreport.Kinds {
		counter(disagreeDesc, m.disagreements[kind], string(kind))
	}
	for _, code := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		counter(refusalsDesc, m.refusals[code], strconv.Itoa(code))
	}
}

// totals are sums over all lists.
type totals struct{ lists, targets, bytes, held, tooLarge, leads int }

func (f *Feed) totals() (out totals) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out.lists = len(f.lists)
	if f.leader != 0 {
		out.leads = 1
	}
	for _, l := range f.lists {
		s := l.status()
		out.targets, out.bytes, out.held, out.tooLarge = out.targets+s.Targets, out.bytes+s.Bytes, out.held+len(s.Held), out.tooLarge+len(s.TooLarge)
	}
	return out
}
