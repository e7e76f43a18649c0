package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// ThanosSpec is the Thanos sidecar next to a Prometheus server.
type ThanosSpec struct {
	// Arguments to append to the command line of the sidecar. One the operator sets itself is an error.
	//
	// +optional
	AdditionalArgs []Argument `json:"additionalArgs,omitempty"`

	// Repository of the image. Deprecated: use `image`.
	//
	// +optional
	BaseImage string `json:"baseImage,omitempty"`

	// Length of the blocks the server writes when it never compacts them. Change it only if you know why.
	//
	// +kubebuilder:default:="2h"
	// +optional
	BlockSize Duration `json:"blockSize,omitempty"`

	// Time between two reads of the server's configuration (since Thanos 0.29.0).
	//
	// +optional
	GetConfigInterval Duration `json:"getConfigInterval,omitempty"`

	// How long reading the server's configuration may take (since Thanos 0.29.0).
	//
	// +optional
	GetConfigTimeout Duration `json:"getConfigTimeout,omitempty"`

	// Whether the gRPC API listens on the loopback address only.
	//
	// +optional
	GRPCListenLocal bool `json:"grpcListenLocal,omitempty"`

	// TLS settings of the gRPC API.
	//
	// +optional
	GRPCServerTLSConfig *GRPCServerTLSConfig `json:"grpcServerTlsConfig,omitempty"`

	// Whether the HTTP server listens on the loopback address only.
	//
	// +optional
	HTTPListenLocal bool `json:"httpListenLocal,omitempty"`

	// Image of the sidecar, taken as it is. Empty means the operator's default repository with `version` as
	// tag.
	//
	// +optional
	Image string `json:"image,omitempty"`

	// Whether both listen on the loopback address only. Deprecated: use `grpcListenLocal` and
	// `httpListenLocal`.
	//
	// +optional
	ListenLocal bool `json:"listenLocal,omitempty"`

	// Format of the log. Empty means the server's.
	//
	// +kubebuilder:validation:Enum="";logfmt;json
	// +optional
	LogFormat string `json:"logFormat,omitempty"`

	// Least level that is logged. Empty means the server's.
	//
	// +kubebuilder:validation:Enum="";debug;info;warn;error
	// +optional
	LogLevel string `json:"logLevel,omitempty"`

	// Oldest data to serve: a time in RFC 3339, or a duration relative to now such as `-3h`.
	//
	// +optional
	MinTime string `json:"minTime,omitempty"`

	// Secret key with the configuration of the object storage that blocks are uploaded to.
	//
	// +optional
	ObjectStorageConfig *corev1.SecretKeySelector `json:"objectStorageConfig,omitempty"`

	// Path of a file with the configuration of the object storage. It wins over `objectStorageConfig`.
	//
	// +optional
	ObjectStorageConfigFile string `json:"objectStorageConfigFile,omitempty"`

	// How long the sidecar waits for the server to come up.
	//
	// +optional
	ReadyTimeout Duration `json:"readyTimeout,omitempty"`

	// Resources of the sidecar.
	//
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// Digest of the image; it wins over `tag`. Deprecated: use `image`.
	//
	// +optional
	SHA string `json:"sha,omitempty"`

	// Tag of the image. Deprecated: use `image`.
	//
	// +optional
	Tag string `json:"tag,omitempty"`

	// Secret key with the tracing configuration of Thanos.
	//
	// +optional
	TracingConfig *corev1.SecretKeySelector `json:"tracingConfig,omitempty"`

	// Path of a file with the tracing configuration. It wins over `tracingConfig`.
	//
	// +optional
	TracingConfigFile string `json:"tracingConfigFile,omitempty"`

	// Version of Thanos. It decides which settings are rendered. Empty means the operator's default.
	//
	// +optional
	Version string `json:"version,omitempty"`

	// Volumes to mount into the sidecar.
	//
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
}
