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
	// Labels to add to the targets. A name that the server's version does not allow rejects the object; names that
	// begin with `__` set properties of the scrape, such as `__metrics_path__`.
	//
	// +mapType=atomic
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Addresses as `host:port` or `host`, without protocol and path.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +required
	Targets []string `json:"targets"`
}

// FileSDConfig reads targets from files of the Prometheus container. Secrets and ConfigMaps that the Prometheus mounts
// are such files.
type FileSDConfig struct {
	// Paths of files with a list of target groups as JSON or YAML; the last part may have one `*`. They are read
	// again when they change.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:Pattern=`^[^*]*(\*[^/]*)?\.(json|yml|yaml|JSON|YML|YAML)$`
	// +required
	Files []string `json:"files"`

	// Time between two readings, besides those after a change, such as `5m`; more than zero. Empty means 5m.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`
}

// HTTPSDConfig asks an HTTP endpoint for targets (since Prometheus 2.28.0; an older one rejects the object).
type HTTPSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Time between two requests and limit of each, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL that answers with a list of target groups as `application/json`. A failed request keeps the last list;
	// an empty list removes all targets.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	URL string `json:"url"`
}

// DNSSDConfig asks DNS for addresses, with the resolver of the Prometheus container.
type DNSSDConfig struct {
	// Names to ask for, such as `_web._tcp.example.org`.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:MinLength=1
	// +required
	Names []string `json:"names"`

	// Port to scrape the addresses at. Needed for all types but SRV, where the record has it.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `30s`; more than zero. Empty means 30s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Type of records. Empty means SRV.
	//
	// +optional
	Type DNSRecordType `json:"type,omitempty"`
}
