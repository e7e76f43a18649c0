package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TopologySpreadConstraint is a core topology spread constraint that can also
// match the labels the operator puts on its own pods.
type TopologySpreadConstraint struct {
	corev1.TopologySpreadConstraint `json:",inline"`

	// AdditionalLabelSelectors adds labels of the generated pods to
	// `labelSelector`, overwriting equal keys: `OnShard` adds all of them, so the
	// constraint counts the pods of one shard; `OnResource` leaves the shard label
	// out, so it counts the pods of all shards.
	//
	// +optional
	AdditionalLabelSelectors *AdditionalLabelSelectors `json:"additionalLabelSelectors,omitempty"`
}

// HostAlias is one line of the hosts file of a pod.
type HostAlias struct {
	// IP is the address of the line.
	//
	// +required
	IP string `json:"ip"`

	// Hostnames are the names that resolve to the address.
	//
	// +required
	Hostnames []string `json:"hostnames"`
}

// DNSPolicy is an enumeration.
//
// +kubebuilder:validation:Enum=ClusterFirstWithHostNet;ClusterFirst;Default;None
type DNSPolicy string

// Values of DNSPolicy.
const (
	DNSClusterFirstWithHostNet DNSPolicy = "ClusterFirstWithHostNet"
	DNSClusterFirst            DNSPolicy = "ClusterFirst"
	DNSDefault                 DNSPolicy = "Default"
	DNSNone                    DNSPolicy = "None"
)

// PodManagementPolicyType is an enumeration.
//
// +kubebuilder:validation:Enum=OrderedReady;Parallel
type PodManagementPolicyType string

// Values of PodManagementPolicyType.
const (
	OrderedReadyPodManagement PodManagementPolicyType = "OrderedReady"
	ParallelPodManagement     PodManagementPolicyType = "Parallel"
)

// StatefulSetUpdateStrategyType is an enumeration.
//
// +kubebuilder:validation:Enum=OnDelete;RollingUpdate
type StatefulSetUpdateStrategyType string

// Values of StatefulSetUpdateStrategyType.
const (
	OnDeleteStatefulSetStrategyType      StatefulSetUpdateStrategyType = "OnDelete"
	RollingUpdateStatefulSetStrategyType StatefulSetUpdateStrategyType = "RollingUpdate"
)

// AdditionalLabelSelectors is an enumeration.
//
// +kubebuilder:validation:Enum=OnResource;OnShard
type AdditionalLabelSelectors string

// Values of AdditionalLabelSelectors.
const (
	ResourceNameLabelSelector         AdditionalLabelSelectors = "OnResource"
	ShardAndResourceNameLabelSelector AdditionalLabelSelectors = "OnShard"
)

// WorkloadFields holds settings.
type WorkloadFields struct {
	// AdditionalArgs is a setting.
	//
	// +optional
	AdditionalArgs []Argument `json:"additionalArgs,omitempty"`

	// Affinity is a setting.
	//
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// Containers is a setting.
	//
	// +optional
	Containers []corev1.Container `json:"containers,omitempty"`

	// DNSConfig is a setting.
	//
	// +optional
	DNSConfig *PodDNSConfig `json:"dnsConfig,omitempty"`

	// DNSPolicy is a setting.
	//
	// +optional
	DNSPolicy DNSPolicy `json:"dnsPolicy,omitempty"`

	// EnableServiceLinks is a setting.
	//
	// +optional
	EnableServiceLinks *bool `json:"enableServiceLinks,omitempty"`

	// HostAliases is a setting.
	//
	// +listType=map
	// +listMapKey=ip
	// +optional
	HostAliases []HostAlias `json:"hostAliases,omitempty"`

	// HostUsers is a setting.
	//
	// +optional
	HostUsers *bool `json:"hostUsers,omitempty"`

	// Image is a setting.
	//
	// +optional
	Image string `json:"image,omitempty"`

	// ImagePullPolicy is a setting.
	//
	// +kubebuilder:validation:Enum="";Always;Never;IfNotPresent
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// ImagePullSecrets is a setting.
	//
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// InitContainers is a setting.
	//
	// +optional
	InitContainers []corev1.Container `json:"initContainers,omitempty"`

	// ListenLocal is a setting.
	//
	// +optional
	ListenLocal bool `json:"listenLocal,omitempty"`

	// LogFormat is a setting.
	//
	// +kubebuilder:validation:Enum="";logfmt;json
	// +optional
	LogFormat string `json:"logFormat,omitempty"`

	// LogLevel is a setting.
	//
	// +kubebuilder:validation:Enum="";debug;info;warn;error
	// +optional
	LogLevel string `json:"logLevel,omitempty"`

	// MinReadySeconds is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// NodeSelector is a setting.
	//
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Paused is a setting.
	//
	// +optional
	Paused bool `json:"paused,omitempty"`

	// PodManagementPolicy is a setting.
	//
	// +optional
	PodManagementPolicy PodManagementPolicyType `json:"podManagementPolicy,omitempty"`

	// PodMetadata is a setting.
	//
	// +optional
	PodMetadata *EmbeddedObjectMetadata `json:"podMetadata,omitempty"`

	// PortName is a setting.
	//
	// +kubebuilder:default:="web"
	// +optional
	PortName string `json:"portName,omitempty"`

	// PriorityClassName is a setting.
	//
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Replicas is a setting.
	//
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Resources is a setting.
	//
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// RoutePrefix is a setting.
	//
	// +optional
	RoutePrefix string `json:"routePrefix,omitempty"`

	// SchedulerName is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`

	// SecurityContext is a setting.
	//
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// ServiceAccountName is a setting.
	//
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// ServiceName is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ServiceName string `json:"serviceName,omitempty"`

	// Storage is a setting.
	//
	// +optional
	Storage *StorageSpec `json:"storage,omitempty"`

	// TerminationGracePeriodSeconds is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// Tolerations is a setting.
	//
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// UpdateStrategy is a setting.
	//
	// +optional
	UpdateStrategy *StatefulSetUpdateStrategy `json:"updateStrategy,omitempty"`

	// Version is a setting.
	//
	// +optional
	Version string `json:"version,omitempty"`

	// VolumeMounts is a setting.
	//
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// Volumes is a setting.
	//
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`
}

// EmbeddedObjectMetadata holds settings.
type EmbeddedObjectMetadata struct {
	// Annotations is a setting.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Labels is a setting.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Name is a setting.
	//
	// +optional
	Name string `json:"name,omitempty"`
}

// Argument holds settings.
type Argument struct {
	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Value is a setting.
	//
	// +optional
	Value string `json:"value,omitempty"`
}

// StatefulSetUpdateStrategy holds settings.
//
// +kubebuilder:validation:XValidation:rule="!(self.type != 'RollingUpdate' && has(self.rollingUpdate))",message="rollingUpdate requires type to be RollingUpdate"
type StatefulSetUpdateStrategy struct {
	// RollingUpdate is a setting.
	//
	// +optional
	RollingUpdate *RollingUpdateStatefulSetStrategy `json:"rollingUpdate,omitempty"`

	// Type is a setting.
	//
	// +required
	Type StatefulSetUpdateStrategyType `json:"type"`
}

// RollingUpdateStatefulSetStrategy holds settings.
type RollingUpdateStatefulSetStrategy struct {
	// MaxUnavailable is a setting.
	//
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// PodDNSConfig holds settings.
type PodDNSConfig struct {
	// Nameservers is a setting.
	//
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	Nameservers []string `json:"nameservers,omitempty"`

	// Options is a setting.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Options []PodDNSConfigOption `json:"options,omitempty"`

	// Searches is a setting.
	//
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	Searches []string `json:"searches,omitempty"`
}

// PodDNSConfigOption holds settings.
type PodDNSConfigOption struct {
	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Value is a setting.
	//
	// +optional
	Value string `json:"value,omitempty"`
}
