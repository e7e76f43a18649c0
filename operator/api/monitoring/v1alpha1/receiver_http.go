package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// HTTPConfig is the HTTP client of a receiver. At most one kind of authentication may be set.
type HTTPConfig struct {
	monitoringv1.HTTPConfigWithProxy `json:",inline"`

	// URL of the proxy. It wins over `proxyUrl`. Deprecated: use `proxyUrl`.
	//
	// +optional
	ProxyURLOriginal string `json:"proxyURL,omitempty"`
}

// KeyValue is a name with a value.
type KeyValue struct {
	// Name.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Key string `json:"key"`

	// Value; it may be a template.
	//
	// +required
	Value string `json:"value"`
}
