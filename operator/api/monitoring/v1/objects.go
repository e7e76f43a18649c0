package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Workload is an object for which the operator runs pods.
//
// +kubebuilder:object:generate=false
type Workload interface {
	metav1.Object
	runtime.Object
	// GetWorkloadFields returns the part of the spec that all workloads have.
	GetWorkloadFields() *WorkloadFields
	// GetWorkloadStatus returns the part of the status that all workloads have.
	GetWorkloadStatus() *WorkloadStatus
}

// ConfigResource is an object that workloads select.
//
// +kubebuilder:object:generate=false
type ConfigResource interface {
	metav1.Object
	runtime.Object
	// GetConfigStatus returns the status, which says who selects the object.
	GetConfigStatus() *ConfigResourceStatus
}

// GetWorkloadFields implements Workload.
func (p *Prometheus) GetWorkloadFields() *WorkloadFields { return &p.Spec.WorkloadFields }

// GetWorkloadStatus implements Workload.
func (p *Prometheus) GetWorkloadStatus() *WorkloadStatus { return &p.Status.WorkloadStatus }

// GetWorkloadFields implements Workload.
func (a *Alertmanager) GetWorkloadFields() *WorkloadFields { return &a.Spec.WorkloadFields }

// GetWorkloadStatus implements Workload.
func (a *Alertmanager) GetWorkloadStatus() *WorkloadStatus { return &a.Status.WorkloadStatus }

// GetWorkloadFields implements Workload.
func (r *ThanosRuler) GetWorkloadFields() *WorkloadFields { return &r.Spec.WorkloadFields }

// GetWorkloadStatus implements Workload.
func (r *ThanosRuler) GetWorkloadStatus() *WorkloadStatus { return &r.Status.WorkloadStatus }

// GetConfigStatus implements ConfigResource.
func (m *ServiceMonitor) GetConfigStatus() *ConfigResourceStatus { return &m.Status }

// GetConfigStatus implements ConfigResource.
func (m *PodMonitor) GetConfigStatus() *ConfigResourceStatus { return &m.Status }

// GetConfigStatus implements ConfigResource.
func (p *Probe) GetConfigStatus() *ConfigResourceStatus { return &p.Status }

// GetConfigStatus implements ConfigResource.
func (r *PrometheusRule) GetConfigStatus() *ConfigResourceStatus { return &r.Status }
