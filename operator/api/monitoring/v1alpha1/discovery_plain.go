package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// DNSRecordType is an enumeration.
//
// +kubebuilder:validation:Enum=A;AAAA;MX;NS;SRV
type DNSRecordType string

// Values of DNSRecordType.
const (
	DNSRecordTypeA    DNSRecordType = "A"
	DNSRecordTypeAAAA DNSRecordType = "AAAA"
	DNSRecordTypeMX   DNSRecordType = "MX"
	DNSRecordTypeNS   DNSRecordType = "NS"
	DNSRecordTypeSRV  DNSRecordType = "SRV"
)

// StaticConfig holds settings.
type StaticConfig struct {
	// Labels is a setting.
	//
	// +mapType=atomic
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Targets is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +required
	Targets []string `json:"targets"`
}

// FileSDConfig holds settings.
type FileSDConfig struct {
	// Files is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:Pattern=`^[^*]*(\*[^/]*)?\.(json|yml|yaml|JSON|YML|YAML)$`
	// +required
	Files []string `json:"files"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`
}

// HTTPSDConfig holds settings.
type HTTPSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	URL string `json:"url"`
}

// DNSSDConfig holds settings.
type DNSSDConfig struct {
	// Names is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:MinLength=1
	// +required
	Names []string `json:"names"`

	// Port is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Type is a setting.
	//
	// +optional
	Type DNSRecordType `json:"type,omitempty"`
}
