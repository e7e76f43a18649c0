package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// DNSRecordType is the type of DNS records to ask for. NS needs Prometheus 2.49.0, MX 2.38.0.
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

// StaticConfig is a fixed list of targets with common labels.
type StaticConfig struct {
	// Labels to add to the targets.
	//
	// +mapType=atomic
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Addresses as host and port, without a protocol.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +required
	Targets []string `json:"targets"`
}

// FileSDConfig reads targets from files. They must be mounted into the Prometheus container.
type FileSDConfig struct {
	// Paths of JSON or YAML files; the last part may have one `*`.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:Pattern=`^[^*]*(\*[^/]*)?\.(json|yml|yaml|JSON|YML|YAML)$`
	// +required
	Files []string `json:"files"`

	// Time between two refreshes of the target list. Empty means the server's default.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`
}

// HTTPSDConfig asks an HTTP endpoint for targets.
type HTTPSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Time between two refreshes of the target list. Empty means the server's default.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL that answers with a list of target groups as JSON.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	URL string `json:"url"`
}

// DNSSDConfig asks DNS for addresses.
type DNSSDConfig struct {
	// Names to ask for.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:MinLength=1
	// +required
	Names []string `json:"names"`

	// Port to scrape. Required unless the type is SRV, where the record has it.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list. Empty means the server's default.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Type of records. Empty means SRV.
	//
	// +optional
	Type DNSRecordType `json:"type,omitempty"`
}
