package v1

import (
	"strings"

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

// DNSPolicy tells how a pod resolves names; the values are those of a pod.
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

// PodManagementPolicyType tells whether a StatefulSet starts and stops its pods one after the other or all at
// once.
//
// +kubebuilder:validation:Enum=OrderedReady;Parallel
type PodManagementPolicyType string

// Values of PodManagementPolicyType.
const (
	OrderedReadyPodManagement PodManagementPolicyType = "OrderedReady"
	ParallelPodManagement     PodManagementPolicyType = "Parallel"
)

// StatefulSetUpdateStrategyType is whether the StatefulSet replaces pods after a change, or only recreates those
// that are deleted.
//
// +kubebuilder:validation:Enum=OnDelete;RollingUpdate
type StatefulSetUpdateStrategyType string

// Values of StatefulSetUpdateStrategyType.
const (
	OnDeleteStatefulSetStrategyType      StatefulSetUpdateStrategyType = "OnDelete"
	RollingUpdateStatefulSetStrategyType StatefulSetUpdateStrategyType = "RollingUpdate"
)

// AdditionalLabelSelectors names a set of labels of the generated pods: those of all pods of the object, or
// those of one shard.
//
// +kubebuilder:validation:Enum=OnResource;OnShard
type AdditionalLabelSelectors string

// Values of AdditionalLabelSelectors.
const (
	ResourceNameLabelSelector         AdditionalLabelSelectors = "OnResource"
	ShardAndResourceNameLabelSelector AdditionalLabelSelectors = "OnShard"
)

// WorkloadFields are the fields that Prometheus, PrometheusAgent, Alertmanager and ThanosRuler have in common:
// the pods, their storage, and how the program in them is started.
type WorkloadFields struct {
	// Arguments to append to the command line of the main container. One the operator sets itself is an error.
	//
	// +optional
	AdditionalArgs []Argument `json:"additionalArgs,omitempty"`

	// Scheduling affinity of the pods.
	//
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// Containers to add. One with the name of a container of the operator is merged into it (strategic merge),
	// which can break the workload in the next version of the operator.
	//
	// +optional
	Containers []corev1.Container `json:"containers,omitempty"`

	// Name resolution of the pods beyond the policy.
	//
	// +optional
	DNSConfig *PodDNSConfig `json:"dnsConfig,omitempty"`

	// Policy of name resolution of the pods.
	//
	// +optional
	DNSPolicy DNSPolicy `json:"dnsPolicy,omitempty"`

	// Whether pods get environment variables for the Services of their namespace.
	//
	// +optional
	EnableServiceLinks *bool `json:"enableServiceLinks,omitempty"`

	// Lines to add to the hosts file of the pods. Addresses must be unique.
	//
	// +listType=map
	// +listMapKey=ip
	// +optional
	HostAliases []HostAlias `json:"hostAliases,omitempty"`

	// Whether pods use the user namespace of the host. Unset leaves it to Kubernetes.
	//
	// +optional
	HostUsers *bool `json:"hostUsers,omitempty"`

	// Image of the main container, taken as it is. `version` still decides which settings the program
	// understands. Empty means the operator's default repository with `version` as tag.
	//
	// +optional
	Image string `json:"image,omitempty"`

	// When images are pulled.
	//
	// +kubebuilder:validation:Enum="";Always;Never;IfNotPresent
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// Secrets with credentials of image registries.
	//
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Init containers to add, merged by name like `containers`.
	//
	// +optional
	InitContainers []corev1.Container `json:"initContainers,omitempty"`

	// Whether the program listens on the loopback address only, for a sidecar in front of it.
	//
	// +optional
	ListenLocal bool `json:"listenLocal,omitempty"`

	// Format of the log.
	//
	// +kubebuilder:validation:Enum="";logfmt;json
	// +optional
	LogFormat string `json:"logFormat,omitempty"`

	// Least level that is logged.
	//
	// +kubebuilder:validation:Enum="";debug;info;warn;error
	// +optional
	LogLevel string `json:"logLevel,omitempty"`

	// How long a new pod must be ready without a crash to count as available, in seconds.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// Labels of the nodes that may run the pods.
	//
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Whether the operator leaves everything it made for this object as it is. Deletion is still honoured.
	//
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Whether pods start one after the other or all at once. Unset means Parallel. A change recreates the
	// StatefulSet.
	//
	// +optional
	PodManagementPolicy PodManagementPolicyType `json:"podManagementPolicy,omitempty"`

	// Labels and annotations of the pods. Keys the operator sets itself win.
	//
	// +optional
	PodMetadata *EmbeddedObjectMetadata `json:"podMetadata,omitempty"`

	// Name of the port of the pods and of the governing Service.
	//
	// +kubebuilder:default:="web"
	// +optional
	PortName string `json:"portName,omitempty"`

	// Priority class of the pods.
	//
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Number of pods; of each shard, where there are shards. Unset means 1.
	//
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Resources of the main container.
	//
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// Path under which the program serves HTTP. Empty means the path of the external URL.
	//
	// +optional
	RoutePrefix string `json:"routePrefix,omitempty"`

	// Scheduler that places the pods.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`

	// Security settings of the pods. The operator sets no default.
	//
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// Service account of the pods.
	//
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Name of the Service that governs the StatefulSet; it must exist and select the pods. Empty means one that
	// the operator makes.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ServiceName string `json:"serviceName,omitempty"`

	// Volume for the data. Unset means an emptyDir.
	//
	// +optional
	Storage *StorageSpec `json:"storage,omitempty"`

	// How long pods get to stop, in seconds.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// Taints the pods tolerate.
	//
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// How pods are replaced after a change. Unset means RollingUpdate.
	//
	// +optional
	UpdateStrategy *StatefulSetUpdateStrategy `json:"updateStrategy,omitempty"`

	// Version of the program, such as `v3.0.0`. It decides which settings are rendered. Empty means the
	// operator's default.
	//
	// +optional
	Version string `json:"version,omitempty"`

	// Volumes to mount into the main container.
	//
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// Volumes to add to the pods.
	//
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`
}

// EmbeddedObjectMetadata is the part of an object's metadata that users may set on objects the operator makes.
type EmbeddedObjectMetadata struct {
	// Annotations of the object.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Labels of the object.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Name of the object, where it can be chosen.
	//
	// +optional
	Name string `json:"name,omitempty"`
}

// Argument is one command line argument.
type Argument struct {
	// Name without leading dashes.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Value. Empty means a flag without one.
	//
	// +optional
	Value string `json:"value,omitempty"`
}

// Flag returns the flag as the program reads it: a name may contain the value, "name=value".
func (a Argument) Flag() (name, value string) {
	text := a.Name
	if a.Value != "" {
		text += "=" + a.Value
	}
	name, value, _ = strings.Cut(text, "=")
	return name, value
}

// StatefulSetUpdateStrategy is how a StatefulSet replaces pods after a change.
//
// +kubebuilder:validation:XValidation:rule="!(self.type != 'RollingUpdate' && has(self.rollingUpdate))",message="rollingUpdate requires type to be RollingUpdate"
type StatefulSetUpdateStrategy struct {
	// Settings of a rolling update. Only with type RollingUpdate.
	//
	// +optional
	RollingUpdate *RollingUpdateStatefulSetStrategy `json:"rollingUpdate,omitempty"`

	// Who replaces the pods.
	//
	// +required
	Type StatefulSetUpdateStrategyType `json:"type"`
}

// RollingUpdateStatefulSetStrategy bounds a rolling update.
type RollingUpdateStatefulSetStrategy struct {
	// How many pods, or what share of them, may be down at a time. Unset means 1. The cluster must have the
	// feature MaxUnavailableStatefulSet.
	//
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// PodDNSConfig is the name resolution of a pod beyond its policy.
type PodDNSConfig struct {
	// Addresses of name servers to add.
	//
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	Nameservers []string `json:"nameservers,omitempty"`

	// Options of the resolver to add.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Options []PodDNSConfigOption `json:"options,omitempty"`

	// Search domains to add.
	//
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	Searches []string `json:"searches,omitempty"`
}

// PodDNSConfigOption is one option of the resolver.
type PodDNSConfigOption struct {
	// Name of the option.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Value of the option, if it has one.
	//
	// +optional
	Value string `json:"value,omitempty"`
}
