package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// The published alerts and dashboards use these names.
func TestMetricNames(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := newMetrics(reg, "prometheus")
	var managed managedCounts
	m.Register(&managed)
	managed.set(key("a"), map[string]Selection{"PodMonitor": {2, 1}})
	m.Expect("Prometheus")
	l := newLoop((&scriptedKind{}).kind(t), slog.New(slog.DiscardHandler), m)
	ended, end := context.WithCancel(t.Context())
	end()
	l.Run(ended, 1)

	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families {
		names = append(names, f.GetName()[len("prometheus_operator_"):])
		for _, metric := range f.Metric {
			if !slices.ContainsFunc(metric.Label, func(p *dto.LabelPair) bool { return p.GetName() == "controller" && p.GetValue() == "prometheus" }) {
				t.Errorf("%s has no label controller", f.GetName())
			}
		}
	}
	want := []string{
		"change_duration_seconds", "list_operations_failed_total", "list_operations_total", "managed_resources", "overwritten_objects_total", "ready",
		"reconcile_duration_seconds", "reconcile_errors_total", "reconcile_operations_total", "reconcile_paced_total", "reconcile_sts_delete_create_total",
		"status_update_errors_total", "status_update_operations_total", "syncs", "triggered_total",
		"watch_operations_failed_total", "watch_operations_total",
		"workqueue_adds_total", "workqueue_depth", "workqueue_latency_seconds", "workqueue_longest_running_processor_seconds",
		"workqueue_retries_total", "workqueue_unfinished_work_seconds", "workqueue_work_duration_seconds",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestMetricValues(t *testing.T) {
	reg := prometheus.NewRegistry()
	Expect(reg, "prometheus") // before it starts
	NotExpected(reg, "prometheus")
	if families, err := reg.Gather(); err != nil || len(families) > 0 {
		t.Error("a kind that is not installed has metrics: ", families, err)
	}
	m := newMetrics(reg, "prometheus")
	m.Expect("Prometheus", "StatefulSet")
	m.Triggered("Secret", "update")
	m.Ready()
	m.Listed(nil)
	m.Listed(errors.New("no"))
	m.Watched(nil)
	var managed managedCounts
	m.Register(&managed)
	managed.set(key("a"), map[string]Selection{"PodMonitor": {Selected: 2, Rejected: 1}})
	managed.set(key("b"), map[string]Selection{"PodMonitor": {Selected: 3}})
	managed.set(key("c"), map[string]Selection{"PodMonitor": {Selected: 40, Rejected: 40}})
	managed.remove(key("c"))
	got := map[string]float64{}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, metric := range f.Metric {
			name := f.GetName()
			for _, p := range metric.Label {
				if p.GetName() != "controller" {
					name += "," + p.GetValue()
				}
			}
			got[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"prometheus_operator_triggered_total,add,Prometheus":        0,
		"prometheus_operator_triggered_total,delete,StatefulSet":    0,
		"prometheus_operator_triggered_total,update,Secret":         1,
		"prometheus_operator_ready":                                 1,
		"prometheus_operator_list_operations_total":                 2,
		"prometheus_operator_list_operations_failed_total":          1,
		"prometheus_operator_watch_operations_total":                1,
		"prometheus_operator_watch_operations_failed_total":         0,
		"prometheus_operator_managed_resources,PodMonitor,selected": 5,
		"prometheus_operator_managed_resources,PodMonitor,rejected": 1,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s = %v (%v), want %v", name, value, ok, want)
		}
	}
}
