package lint

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// renaming is the successor of a metric that a release removed.
type renaming struct {
	since string // "node_exporter 0.16"
	now   string
}

const (
	stateMetrics2 = "kube-state-metrics 2.0"
	nodeExporter  = "node_exporter 0.16"
	kubernetes117 = "Kubernetes 1.17"
)

// renamed are metrics that current exporters do not have, in alerts and dashboards that are still copied.
var renamed = map[string]renaming{
	"kube_pod_container_resource_requests_cpu_cores":    {stateMetrics2, `kube_pod_container_resource_requests{resource="cpu"}`},
	"kube_pod_container_resource_requests_memory_bytes": {stateMetrics2, `kube_pod_container_resource_requests{resource="memory"}`},
	"kube_pod_container_resource_limits_cpu_cores":      {stateMetrics2, `kube_pod_container_resource_limits{resource="cpu"}`},
	"kube_pod_container_resource_limits_memory_bytes":   {stateMetrics2, `kube_pod_container_resource_limits{resource="memory"}`},
	"kube_node_status_capacity_cpu_cores":               {stateMetrics2, `kube_node_status_capacity{resource="cpu"}`},
	"kube_node_status_capacity_memory_bytes":            {stateMetrics2, `kube_node_status_capacity{resource="memory"}`},
	"kube_node_status_capacity_pods":                    {stateMetrics2, `kube_node_status_capacity{resource="pods"}`},
	"kube_node_status_allocatable_cpu_cores":            {stateMetrics2, `kube_node_status_allocatable{resource="cpu"}`},
	"kube_node_status_allocatable_memory_bytes":         {stateMetrics2, `kube_node_status_allocatable{resource="memory"}`},
	"kube_node_status_allocatable_pods":                 {stateMetrics2, `kube_node_status_allocatable{resource="pods"}`},
	"kube_hpa_spec_max_replicas":                        {stateMetrics2, "kube_horizontalpodautoscaler_spec_max_replicas"},
	"kube_hpa_spec_min_replicas":                        {stateMetrics2, "kube_horizontalpodautoscaler_spec_min_replicas"},
	"kube_hpa_status_current_replicas":                  {stateMetrics2, "kube_horizontalpodautoscaler_status_current_replicas"},
	"kube_hpa_status_desired_replicas":                  {stateMetrics2, "kube_horizontalpodautoscaler_status_desired_replicas"},
	"kube_hpa_status_condition":                         {stateMetrics2, "kube_horizontalpodautoscaler_status_condition"},

	"node_cpu":                    {nodeExporter, "node_cpu_seconds_total"},
	"node_boot_time":              {nodeExporter, "node_boot_time_seconds"},
	"node_time":                   {nodeExporter, "node_time_seconds"},
	"node_context_switches":       {nodeExporter, "node_context_switches_total"},
	"node_memory_MemAvailable":    {nodeExporter, "node_memory_MemAvailable_bytes"},
	"node_memory_MemFree":         {nodeExporter, "node_memory_MemFree_bytes"},
	"node_memory_MemTotal":        {nodeExporter, "node_memory_MemTotal_bytes"},
	"node_memory_Buffers":         {nodeExporter, "node_memory_Buffers_bytes"},
	"node_memory_Cached":          {nodeExporter, "node_memory_Cached_bytes"},
	"node_memory_SwapFree":        {nodeExporter, "node_memory_SwapFree_bytes"},
	"node_memory_SwapTotal":       {nodeExporter, "node_memory_SwapTotal_bytes"},
	"node_filesystem_avail":       {nodeExporter, "node_filesystem_avail_bytes"},
	"node_filesystem_free":        {nodeExporter, "node_filesystem_free_bytes"},
	"node_filesystem_size":        {nodeExporter, "node_filesystem_size_bytes"},
	"node_disk_bytes_read":        {nodeExporter, "node_disk_read_bytes_total"},
	"node_disk_bytes_written":     {nodeExporter, "node_disk_written_bytes_total"},
	"node_network_receive_bytes":  {nodeExporter, "node_network_receive_bytes_total"},
	"node_network_transmit_bytes": {nodeExporter, "node_network_transmit_bytes_total"},

	"apiserver_request_count":            {kubernetes117, "apiserver_request_total"},
	"apiserver_request_latencies_bucket": {kubernetes117, "apiserver_request_duration_seconds_bucket, in seconds"},
}

// cadvisorLabels are labels of the metrics of containers that Kubernetes 1.16 removed.
var cadvisorLabels = map[string]string{"pod_name": "pod", "container_name": "container"}

// renamedRemarks reports metrics and labels in expressions that exporters no longer have under this name, unless a rule among
// the manifests records the name.
func (l *linter) renamedRemarks(note says, queries []*query) {
	for _, q := range queries {
		if !strings.Contains(q.text, "kube_") && !strings.Contains(q.text, "node_") && !strings.Contains(q.text, "apiserver_") && !strings.Contains(q.text, "container_") {
			continue
		}
		seen := map[string]bool{}
		for _, selector := range q.selectors() {
			name := nameIn(selector)
			_, recorded := slices.BinarySearch(l.recordedNames(), name)
			if r, is := renamed[name]; is && !seen[name] && !recorded {
				seen[name] = true
				note(q.path("expr"), "%s does not exist since %s: write %s", name, r.since, r.now)
			}
			if strings.HasPrefix(name, "container_") {
				cadvisorRemark(note, q, selector, seen)
			}
		}
		groupedByRemoved(note, q, seen)
	}
}

// cadvisorRemark reports matchers of a metric of containers for labels that it no longer has.
func cadvisorRemark(note says, q *query, selector []*labels.Matcher, seen map[string]bool) {
	for _, m := range selector {
		if now := cadvisorLabels[m.Name]; now != "" && !seen[m.Name] {
			seen[m.Name] = true
			note(q.path("expr"), "metrics of containers have no label %s since Kubernetes 1.16: write %s", m.Name, now)
		}
	}
}

// groupedByRemoved reports aggregations of metrics of containers by labels that they no longer have, unless a function of
// the expression sets labels.
func groupedByRemoved(note says, q *query, seen map[string]bool) {
	if q.expr() == nil || strings.Contains(q.text, "label_replace") || strings.Contains(q.text, "label_join") {
		return
	}
	parser.Inspect(q.expr(), func(node parser.Node, _ []parser.Node) error {
		e, is := node.(*parser.AggregateExpr)
		if !is || e.Without || slices.ContainsFunc(parser.ExtractSelectors(e.Expr), func(s []*labels.Matcher) bool { return !strings.HasPrefix(nameIn(s), "container_") }) {
			return nil
		}
		for _, label := range e.Grouping {
			if now := cadvisorLabels[label]; now != "" && !seen[label] {
				seen[label] = true
				note(q.path("expr"), "metrics of containers have no label %s since Kubernetes 1.16, so that by (%[1]s) does not separate them: write %s", label, now)
			}
		}
		return nil
	})
}
