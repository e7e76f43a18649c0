package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// GetConfigStatus implements ConfigResource of v1.
func (a *AlertmanagerConfig) GetConfigStatus() *monitoringv1.ConfigResourceStatus { return &a.Status }
