package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Alertmanager is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=alertmanagers,shortName=am
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.version",description="Version wanted for the server."
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".spec.replicas",description="Replicas wanted."
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.availableReplicas",description="Pods that are ready."
// +kubebuilder:printcolumn:name="Reconciled",type="string",JSONPath=".status.conditions[?(@.type == 'Reconciled')].status"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type == 'Available')].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Paused",type="boolean",JSONPath=".status.paused",priority=1,description="Whether the operator leaves the object alone."
type Alertmanager struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	//
	// +required
	Spec AlertmanagerSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status AlertmanagerStatus `json:"status,omitempty,omitzero"`
}

// AlertmanagerList is a list of Alertmanager objects.
//
// +kubebuilder:object:root=true
type AlertmanagerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []Alertmanager `json:"items"`
}

// AlertmanagerConfigMatcherStrategyType is an enumeration.
//
// +kubebuilder:validation:Enum=OnNamespace;OnNamespaceExceptForAlertmanagerNamespace;None
type AlertmanagerConfigMatcherStrategyType string

// Values of AlertmanagerConfigMatcherStrategyType.
const (
	OnNamespaceConfigMatcherStrategyType                               AlertmanagerConfigMatcherStrategyType = "OnNamespace"
	OnNamespaceExceptForAlertmanagerNamespaceConfigMatcherStrategyType AlertmanagerConfigMatcherStrategyType = "OnNamespaceExceptForAlertmanagerNamespace"
	NoneConfigMatcherStrategyType                                      AlertmanagerConfigMatcherStrategyType = "None"
)

// AlertmanagerStatus holds settings.
type AlertmanagerStatus struct {
	WorkloadStatus `json:",inline"`

	// Selector is a setting.
	//
	// +optional
	Selector string `json:"selector,omitempty"`
}

// AlertmanagerSpec holds settings.
type AlertmanagerSpec struct {
	WorkloadFields `json:",inline"`

	// AdditionalPeers is a setting.
	//
	// +optional
	AdditionalPeers []string `json:"additionalPeers,omitempty"`

	// AlertmanagerConfigMatcherStrategy is a setting.
	//
	// +optional
	AlertmanagerConfigMatcherStrategy *AlertmanagerConfigMatcherStrategy `json:"alertmanagerConfigMatcherStrategy,omitempty"`

	// AlertmanagerConfigNamespaceSelector is a setting.
	//
	// +optional
	AlertmanagerConfigNamespaceSelector *metav1.LabelSelector `json:"alertmanagerConfigNamespaceSelector,omitempty"`

	// AlertmanagerConfigSelector is a setting.
	//
	// +optional
	AlertmanagerConfigSelector *metav1.LabelSelector `json:"alertmanagerConfigSelector,omitempty"`

	// AlertmanagerConfiguration is a setting.
	//
	// +optional
	AlertmanagerConfiguration *AlertmanagerConfiguration `json:"alertmanagerConfiguration,omitempty"`

	// AutomountServiceAccountToken is a setting.
	//
	// +optional
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`

	// BaseImage is a setting.
	//
	// +optional
	BaseImage string `json:"baseImage,omitempty"`

	// ClusterAdvertiseAddress is a setting.
	//
	// +optional
	ClusterAdvertiseAddress string `json:"clusterAdvertiseAddress,omitempty"`

	// ClusterGossipInterval is a setting.
	//
	// +optional
	ClusterGossipInterval GoDuration `json:"clusterGossipInterval,omitempty"`

	// ClusterLabel is a setting.
	//
	// +optional
	ClusterLabel string `json:"clusterLabel,omitempty"`

	// ClusterPeerTimeout is a setting.
	//
	// +optional
	ClusterPeerTimeout GoDuration `json:"clusterPeerTimeout,omitempty"`

	// ClusterPushpullInterval is a setting.
	//
	// +optional
	ClusterPushpullInterval GoDuration `json:"clusterPushpullInterval,omitempty"`

	// ClusterTLS is a setting.
	//
	// +optional
	ClusterTLS *ClusterTLSConfig `json:"clusterTLS,omitempty"`

	// ConfigMaps is a setting.
	//
	// +optional
	ConfigMaps []string `json:"configMaps,omitempty"`

	// ConfigSecret is a setting.
	//
	// +optional
	ConfigSecret string `json:"configSecret,omitempty"`

	// EnableFeatures is a setting.
	//
	// +optional
	EnableFeatures []string `json:"enableFeatures,omitempty"`

	// ExternalURL is a setting.
	//
	// +optional
	ExternalURL string `json:"externalUrl,omitempty"`

	// ForceEnableClusterMode is a setting.
	//
	// +optional
	ForceEnableClusterMode bool `json:"forceEnableClusterMode,omitempty"`

	// HostNetwork is a setting.
	//
	// +optional
	HostNetwork bool `json:"hostNetwork,omitempty"`

	// Limits is a setting.
	//
	// +optional
	Limits *AlertmanagerLimitsSpec `json:"limits,omitempty"`

	// PersistentVolumeClaimRetentionPolicy is a setting.
	//
	// +optional
	PersistentVolumeClaimRetentionPolicy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`

	// Retention is a setting.
	//
	// +kubebuilder:default:="120h"
	// +optional
	Retention GoDuration `json:"retention,omitempty"`

	// Secrets is a setting.
	//
	// +optional
	Secrets []string `json:"secrets,omitempty"`

	// SHA is a setting.
	//
	// +optional
	SHA string `json:"sha,omitempty"`

	// Tag is a setting.
	//
	// +optional
	Tag string `json:"tag,omitempty"`

	// TopologySpreadConstraints is a setting.
	//
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// Web is a setting.
	//
	// +optional
	Web *AlertmanagerWebSpec `json:"web,omitempty"`
}

// AlertmanagerConfigMatcherStrategy holds settings.
type AlertmanagerConfigMatcherStrategy struct {
	// Type is a setting.
	//
	// +kubebuilder:default:="OnNamespace"
	// +optional
	Type AlertmanagerConfigMatcherStrategyType `json:"type,omitempty"`
}

// ClusterTLSConfig holds settings.
type ClusterTLSConfig struct {
	// Client is a setting.
	//
	// +required
	Client SafeTLSConfig `json:"client"`

	// Server is a setting.
	//
	// +required
	Server WebTLSConfig `json:"server"`
}

// AlertmanagerLimitsSpec holds settings.
type AlertmanagerLimitsSpec struct {
	// MaxPerSilenceBytes is a setting.
	//
	// +optional
	MaxPerSilenceBytes ByteSize `json:"maxPerSilenceBytes,omitempty"`

	// MaxSilences is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxSilences *int32 `json:"maxSilences,omitempty"`
}

// AlertmanagerWebSpec holds settings.
type AlertmanagerWebSpec struct {
	WebConfigFileFields `json:",inline"`

	// GetConcurrency is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	GetConcurrency *int32 `json:"getConcurrency,omitempty"`

	// Timeout is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Timeout *int32 `json:"timeout,omitempty"`
}
