package engine

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// durationBuckets are the buckets of all duration histograms, in seconds.
var durationBuckets = []float64{0.1, 0.5, 1, 5, 10}

// Metrics are the metrics of one controller. All carry the label controller.
type Metrics struct {
	reg prometheus.Registerer

	triggered        *prometheus.CounterVec
	operations       prometheus.Counter
	errors           prometheus.Counter
	paced            prometheus.Counter
	duration         prometheus.Histogram
	statusOperations prometheus.Counter
	statusErrors     prometheus.Counter
	ready            prometheus.Gauge
	queues           *queueMetrics
	lists, watches   callMetrics
	overwrites       *prometheus.CounterVec
	changes          *prometheus.HistogramVec

	// Recreated counts recreated StatefulSets.
	Recreated prometheus.Counter
}

// newMetrics registers the metrics of a controller, for example "prometheus".
func newMetrics(reg prometheus.Registerer, controller string) *Metrics {
	m := &Metrics{ready: Expect(reg, controller)}
	reg = ofController(reg, controller)
	m.reg = reg
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		reg.MustRegister(c)
		return c
	}
	m.operations = counter("prometheus_operator_reconcile_operations_total", "Reconciliations.")
	m.errors = counter("prometheus_operator_reconcile_errors_total", "Failed reconciliations.")
	m.paced = counter("prometheus_operator_reconcile_paced_total", "Reconciliations put off because the workload was written often shortly before.")
	m.statusOperations = counter("prometheus_operator_status_update_operations_total", "Status updates.")
	m.statusErrors = counter("prometheus_operator_status_update_errors_total", "Failed status updates.")
	m.Recreated = counter("prometheus_operator_reconcile_sts_delete_create_total", "StatefulSets recreated because an immutable field changed.")
	m.triggered = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prometheus_operator_triggered_total", Help: "Events that triggered a reconciliation, by kind of object and action.",
	}, []string{"triggered_by", "action"})
	m.duration = prometheus.NewHistogram(histogram("prometheus_operator_reconcile_duration_seconds", "Duration of a reconciliation."))
	m.overwrites = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prometheus_operator_overwritten_objects_total", Help: "Changes by others to generated objects that the operator reverted, by kind.",
	}, []string{"kind"})
	for _, kind := range []string{"ConfigMap", "DaemonSet", "Secret", "Service", "StatefulSet"} {
		m.overwrites.WithLabelValues(kind)
	}
	m.changes = prometheus.NewHistogramVec(histogram("prometheus_operator_change_duration_seconds",
		"Time from the first event of a change until all content is written, all pods are annotated, have it on disk and have loaded it, by stage.",
	), []string{"stage"})
	for _, stage := range []string{"written", "annotated", "on_disk", "loaded"} {
		m.changes.WithLabelValues(stage)
	}
	reg.MustRegister(m.triggered, m.duration, m.overwrites, m.changes)
	m.lists = callMetrics{
		counter("prometheus_operator_list_operations_total", "List requests of the caches."),
		counter("prometheus_operator_list_operations_failed_total", "Failed list requests of the caches."),
	}
	m.watches = callMetrics{
		counter("prometheus_operator_watch_operations_total", "Watch requests of the caches."),
		counter("prometheus_operator_watch_operations_failed_total", "Failed watch requests of the caches."),
	}
	m.queues = newQueueMetrics(reg)
	return m
}

// Expect registers the metric that a controller is not ready, and returns it. Call it for controllers that start once the
// cluster meets their requirements, so that an alert notices those that never do.
func Expect(reg prometheus.Registerer, controller string) prometheus.Gauge {
	out := newReady()
	err := ofController(reg, controller).Register(out)
	if known, is := errors.AsType[prometheus.AlreadyRegisteredError](err); is {
		return known.ExistingCollector.(prometheus.Gauge)
	}
	if err != nil {
		panic(err)
	}
	return out
}

// NotExpected removes the metric of [Expect], for a controller whose kind is not installed: it has no objects that wait for it.
func NotExpected(reg prometheus.Registerer, controller string) {
	ofController(reg, controller).Unregister(newReady())
}

func newReady() prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "prometheus_operator_ready", Help: "1 once the caches are synced and events are handled, else 0.",
	})
}

// ofController returns a registerer that adds the label of a controller.
func ofController(reg prometheus.Registerer, controller string) prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{"controller": controller}, reg)
}

// callMetrics count requests of one verb.
type callMetrics struct{ all, failed prometheus.Counter }

// Listed counts a list request; err is nil if it succeeded.
func (m *Metrics) Listed(err error) { m.lists.count(err) }

// Watched counts the start of a watch; err is nil if it succeeded.
func (m *Metrics) Watched(err error) { m.watches.count(err) }

func (m callMetrics) count(err error) {
	m.all.Inc()
	if err != nil {
		m.failed.Inc()
	}
}

func histogram(name, help string) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: durationBuckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}
}

// Expect creates the series of a trigger, so that they exist at zero.
func (m *Metrics) Expect(triggeredBy ...string) {
	for _, by := range triggeredBy {
		for _, action := range []string{"add", "update", "delete"} {
			m.triggered.WithLabelValues(by, action)
		}
	}
}

// Triggered counts an event that triggered a reconciliation.
func (m *Metrics) Triggered(by, action string) { m.triggered.WithLabelValues(by, action).Inc() }

// overwrote counts a foreign change that was reverted.
func (m *Metrics) overwrote(kind string) { m.overwrites.WithLabelValues(kind).Inc() }

// trackConflicts exports the number of objects that another client keeps reverting.
func (m *Metrics) trackConflicts(count func() int) {
	m.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "prometheus_operator_write_conflicts",
		Help: "Generated objects that another client keeps reverting; the operator overwrites them with backoff.",
	}, func() float64 { return float64(count()) }))
}

// Ready records that the caches are synced and events are handled.
func (m *Metrics) Ready() { m.ready.Set(1) }

// Register adds a collector under the label controller.
func (m *Metrics) Register(c prometheus.Collector) { m.reg.MustRegister(c) }

var syncsDesc = prometheus.NewDesc("prometheus_operator_syncs", "Workloads by the result of their last reconciliation.", []string{"status"}, nil)

type resultCollector func() (ok, failed int)

func (c resultCollector) Describe(ch chan<- *prometheus.Desc) { ch <- syncsDesc }

func (c resultCollector) Collect(ch chan<- prometheus.Metric) {
	ok, failed := c()
	ch <- prometheus.MustNewConstMetric(syncsDesc, prometheus.GaugeValue, float64(ok), "ok")
	ch <- prometheus.MustNewConstMetric(syncsDesc, prometheus.GaugeValue, float64(failed), "failed")
}

func (m *Metrics) trackResults(count func() (ok, failed int)) { m.Register(resultCollector(count)) }

// queueMetrics are the work queue metrics, by queue name.
type queueMetrics struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, work              *prometheus.HistogramVec
}

func newQueueMetrics(reg prometheus.Registerer) *queueMetrics {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "prometheus_operator_workqueue_" + name, Help: help}, []string{"name"})
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "prometheus_operator_workqueue_" + name, Help: help}, []string{"name"})
	}
	hist := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(histogram("prometheus_operator_workqueue_"+name, help), []string{"name"})
	}
	q := &queueMetrics{
		depth:      gauge("depth", "Keys waiting in the queue."),
		unfinished: gauge("unfinished_work_seconds", "Total seconds of work in progress, every 10 s."),
		longest:    gauge("longest_running_processor_seconds", "Seconds that the longest running worker has been busy, every 10 s."),
		adds:       counter("adds_total", "Keys added to the queue."),
		retries:    counter("retries_total", "Keys requeued after a failure."),
		latency:    hist("latency_seconds", "Time a key waited in the queue."),
		work:       hist("work_duration_seconds", "Time to process a key."),
	}
	reg.MustRegister(q.depth, q.unfinished, q.longest, q.adds, q.retries, q.latency, q.work)
	return q
}

func (m *Metrics) queueProvider() workqueue.MetricsProvider { return m.queues }

func (q *queueMetrics) NewDepthMetric(name string) workqueue.GaugeMetric {
	return q.depth.WithLabelValues(name)
}

func (q *queueMetrics) NewAddsMetric(name string) workqueue.CounterMetric {
	return q.adds.WithLabelValues(name)
}

func (q *queueMetrics) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return q.latency.WithLabelValues(name)
}

func (q *queueMetrics) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return q.work.WithLabelValues(name)
}

func (q *queueMetrics) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return q.unfinished.WithLabelValues(name)
}

func (q *queueMetrics) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return q.longest.WithLabelValues(name)
}

func (q *queueMetrics) NewRetriesMetric(name string) workqueue.CounterMetric {
	return q.retries.WithLabelValues(name)
}
