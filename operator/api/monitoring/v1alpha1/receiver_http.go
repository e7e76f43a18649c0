package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// HTTPConfig holds settings.
type HTTPConfig struct {
	monitoringv1.HTTPConfigWithProxy `json:",inline"`

	// ProxyURLOriginal is a setting.
	//
	// +optional
	ProxyURLOriginal string `json:"proxyURL,omitempty"`
}

// KeyValue holds settings.
type KeyValue struct {
	// Key is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Key string `json:"key"`

	// Value is a setting.
	//
	// +required
	Value string `json:"value"`
}
