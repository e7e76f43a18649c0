package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Alertmanager describes an Alertmanager cluster: its pods, its storage and where its configuration comes from.
// The operator turns it into a StatefulSet.
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
	Decoding          `json:"-"`

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

// AlertmanagerConfigMatcherStrategyType is the rule by which routes of an AlertmanagerConfig are limited to
// alerts of its own namespace.
//
// +kubebuilder:validation:Enum=OnNamespace;OnNamespaceExceptForAlertmanagerNamespace;None
type AlertmanagerConfigMatcherStrategyType string

// Values of AlertmanagerConfigMatcherStrategyType.
const (
	OnNamespaceConfigMatcherStrategyType                               AlertmanagerConfigMatcherStrategyType = "OnNamespace"
	OnNamespaceExceptForAlertmanagerNamespaceConfigMatcherStrategyType AlertmanagerConfigMatcherStrategyType = "OnNamespaceExceptForAlertmanagerNamespace"
	NoneConfigMatcherStrategyType                                      AlertmanagerConfigMatcherStrategyType = "None"
)

// AlertmanagerStatus is what the operator observed of an Alertmanager.
type AlertmanagerStatus struct {
	WorkloadStatus `json:",inline"`

	// Selector of the pods as text, for autoscalers.
	//
	// +optional
	Selector string `json:"selector,omitempty"`
}

// AlertmanagerSpec is what the user wants of an Alertmanager cluster.
type AlertmanagerSpec struct {
	WorkloadFields `json:",inline"`

	// Addresses of further members of the cluster, outside this object.
	//
	// +optional
	AdditionalPeers []string `json:"additionalPeers,omitempty"`

	// How routes of AlertmanagerConfigs are limited to alerts of their namespace.
	//
	// +optional
	AlertmanagerConfigMatcherStrategy *AlertmanagerConfigMatcherStrategy `json:"alertmanagerConfigMatcherStrategy,omitempty"`

	// Labels of the namespaces to look for AlertmanagerConfigs in. Unset means the object's own, an empty
	// selector all.
	//
	// +optional
	AlertmanagerConfigNamespaceSelector *metav1.LabelSelector `json:"alertmanagerConfigNamespaceSelector,omitempty"`

	// Labels of the AlertmanagerConfigs to use. Unset selects none, an empty selector all.
	//
	// +optional
	AlertmanagerConfigSelector *metav1.LabelSelector `json:"alertmanagerConfigSelector,omitempty"`

	// An AlertmanagerConfig that is the base of the configuration, with global settings. `configSecret` is
	// ignored then.
	//
	// +optional
	AlertmanagerConfiguration *AlertmanagerConfiguration `json:"alertmanagerConfiguration,omitempty"`

	// Whether the token of the service account is mounted into the pods. Unset means true.
	//
	// +optional
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`

	// Repository of the image. Deprecated: use `image`.
	//
	// +optional
	BaseImage string `json:"baseImage,omitempty"`

	// Address that is announced to other members.
	//
	// +optional
	ClusterAdvertiseAddress string `json:"clusterAdvertiseAddress,omitempty"`

	// Time between two gossip messages.
	//
	// +optional
	ClusterGossipInterval GoDuration `json:"clusterGossipInterval,omitempty"`

	// Label of the cluster; members ignore messages with another one (since Alertmanager 0.26.0). Unset means
	// namespace and name of the object, empty means no label.
	//
	// +optional
	ClusterLabel *string `json:"clusterLabel,omitempty"`

	// How long a member waits for another before it sends notifications itself.
	//
	// +optional
	ClusterPeerTimeout GoDuration `json:"clusterPeerTimeout,omitempty"`

	// Time between two full exchanges of state.
	//
	// +optional
	ClusterPushpullInterval GoDuration `json:"clusterPushpullInterval,omitempty"`

	// TLS between members (since Alertmanager 0.24.0).
	//
	// +optional
	ClusterTLS *ClusterTLSConfig `json:"clusterTLS,omitempty"`

	// ConfigMaps of the same namespace to mount, each under a path named after it.
	//
	// +optional
	ConfigMaps []string `json:"configMaps,omitempty"`

	// Secret whose key `alertmanager.yaml` is the base of the configuration. Empty means `alertmanager-<name>`.
	// All its other keys are mounted next to the configuration.
	//
	// +optional
	ConfigSecret string `json:"configSecret,omitempty"`

	// Feature flags of the program to switch on. They may change or vanish with any version.
	//
	// +optional
	EnableFeatures []string `json:"enableFeatures,omitempty"`

	// URL under which users reach the program, for links in what it sends.
	//
	// +optional
	ExternalURL string `json:"externalUrl,omitempty"`

	// Whether a single replica runs in cluster mode too, so that it can join others.
	//
	// +optional
	ForceEnableClusterMode bool `json:"forceEnableClusterMode,omitempty"`

	// Whether pods use the network of the host. Check that ports do not collide.
	//
	// +optional
	HostNetwork bool `json:"hostNetwork,omitempty"`

	// Limits of silences.
	//
	// +optional
	Limits *AlertmanagerLimitsSpec `json:"limits,omitempty"`

	// What happens to volume claims when the StatefulSet is deleted or scaled down. Unset means they are kept.
	//
	// +optional
	PersistentVolumeClaimRetentionPolicy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`

	// How long silences and the notification log are kept.
	//
	// +kubebuilder:default:="120h"
	// +optional
	Retention GoDuration `json:"retention,omitempty"`

	// Secrets of the same namespace to mount, each under a path named after it.
	//
	// +optional
	Secrets []string `json:"secrets,omitempty"`

	// Digest of the image; it wins over `tag`. Deprecated: use `image`.
	//
	// +optional
	SHA string `json:"sha,omitempty"`

	// Tag of the image. Deprecated: use `image`.
	//
	// +optional
	Tag string `json:"tag,omitempty"`

	// How pods are spread over the cluster.
	//
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// Settings of the HTTP server.
	//
	// +optional
	Web *AlertmanagerWebSpec `json:"web,omitempty"`
}

// AlertmanagerConfigMatcherStrategy is how routes of AlertmanagerConfigs are limited to alerts of their
// namespace.
type AlertmanagerConfigMatcherStrategy struct {
	// `OnNamespace` adds a matcher on the label `namespace` to all of them,
	// `OnNamespaceExceptForAlertmanagerNamespace` spares those in the namespace of the Alertmanager, `None`
	// adds nothing.
	//
	// +kubebuilder:default:="OnNamespace"
	// +optional
	Type AlertmanagerConfigMatcherStrategyType `json:"type,omitempty"`
}

// ClusterTLSConfig is TLS between the members of a cluster; both sides are needed.
type ClusterTLSConfig struct {
	// Settings for connections to other members.
	//
	// +required
	Client SafeTLSConfig `json:"client"`

	// Settings for connections from other members.
	//
	// +required
	Server WebTLSConfig `json:"server"`
}

// AlertmanagerLimitsSpec bounds silences (since Alertmanager 0.28.0).
type AlertmanagerLimitsSpec struct {
	// How large one silence may be.
	//
	// +optional
	MaxPerSilenceBytes ByteSize `json:"maxPerSilenceBytes,omitempty"`

	// How many silences may exist, active and pending ones together.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxSilences *int32 `json:"maxSilences,omitempty"`
}

// AlertmanagerWebSpec is the HTTP server of Alertmanager.
type AlertmanagerWebSpec struct {
	WebConfigFileFields `json:",inline"`

	// How many GET requests run at a time; 0 means 8 or the number of processors, whichever is more.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	GetConcurrency *int32 `json:"getConcurrency,omitempty"`

	// How long a request may take, in seconds; 0 means no limit.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Timeout *int32 `json:"timeout,omitempty"`
}
