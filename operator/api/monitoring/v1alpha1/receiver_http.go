package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// HTTPConfig is the HTTP client of a receiver. At most one kind of authentication may be set; two reject the
// object.
type HTTPConfig struct {
	monitoringv1.HTTPConfigWithProxy `json:",inline"`

	// URL of the proxy. It wins over `proxyUrl`. Deprecated: use `proxyUrl`.
	//
	// +optional
	ProxyURLOriginal string `json:"proxyURL,omitempty"`
}

// KeyValue is a name with a value.
type KeyValue struct {
	// Name: a header, a detail or a field of the receiver.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Key string `json:"key"`

	// Value; it may be a template.
	//
	// +required
	Value string `json:"value"`
}
