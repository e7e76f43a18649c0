package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// GetWorkloadFields implements Workload of v1.
func (a *PrometheusAgent) GetWorkloadFields() *monitoringv1.WorkloadFields {
	return &a.Spec.WorkloadFields
}

// GetWorkloadStatus implements Workload of v1.
func (a *PrometheusAgent) GetWorkloadStatus() *monitoringv1.WorkloadStatus {
	return &a.Status.WorkloadStatus
}

// GetConfigStatus implements ConfigResource of v1.
func (s *ScrapeConfig) GetConfigStatus() *monitoringv1.ConfigResourceStatus { return &s.Status }

// GetConfigStatus implements ConfigResource of v1.
func (a *AlertmanagerConfig) GetConfigStatus() *monitoringv1.ConfigResourceStatus { return &a.Status }

// CommonFields returns the fields that Prometheus and PrometheusAgent share; nil for other kinds.
func CommonFields(w monitoringv1.Workload) *monitoringv1.CommonPrometheusFields {
	switch p := w.(type) {
	case *monitoringv1.Prometheus:
		return &p.Spec.CommonPrometheusFields
	case *PrometheusAgent:
		return &p.Spec.CommonPrometheusFields
	}
	return nil
}
