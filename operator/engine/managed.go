package engine

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Selection counts the configuration objects of one kind that a workload selects.
type Selection struct {
	Selected int // all that match, including rejected ones
	Rejected int
}

// managedCounts keeps the counts of every workload and sums them up when scraped. It is the collector of
// prometheus_operator_managed_resources.
type managedCounts struct {
	mu     sync.Mutex
	owners map[types.NamespacedName]map[string]Selection
}

// set replaces the counts of a workload, by kind of object.
func (m *managedCounts) set(owner types.NamespacedName, byKind map[string]Selection) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owners == nil {
		m.owners = map[types.NamespacedName]map[string]Selection{}
	}
	m.owners[owner] = byKind
}

// remove drops the counts of a workload.
func (m *managedCounts) remove(owner types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.owners, owner)
}

var managedDesc = prometheus.NewDesc("prometheus_operator_managed_resources",
	"Configuration objects that workloads select, and how many of them are rejected.", []string{"resource", "state"}, nil)

// Describe implements prometheus.Collector.
func (m *managedCounts) Describe(ch chan<- *prometheus.Desc) { ch <- managedDesc }

// Collect implements prometheus.Collector.
func (m *managedCounts) Collect(ch chan<- prometheus.Metric) {
	sums := map[string]Selection{}
	m.mu.Lock()
	for _, kinds := range m.owners {
		for kind, s := range kinds {
			sum := sums[kind]
			sums[kind] = Selection{Selected: sum.Selected + s.Selected, Rejected: sum.Rejected + s.Rejected}
		}
	}
	m.mu.Unlock()
	for kind, s := range sums {
		ch <- prometheus.MustNewConstMetric(managedDesc, prometheus.GaugeValue, float64(s.Selected), kind, "selected")
		ch <- prometheus.MustNewConstMetric(managedDesc, prometheus.GaugeValue, float64(s.Rejected), kind, "rejected")
	}
}
