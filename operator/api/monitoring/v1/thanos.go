package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// ThanosSpec holds settings.
type ThanosSpec struct {
	// AdditionalArgs is a setting.
	//
	// +optional
	AdditionalArgs []Argument `json:"additionalArgs,omitempty"`

	// BaseImage is a setting.
	//
	// +optional
	BaseImage string `json:"baseImage,omitempty"`

	// BlockSize is a setting.
	//
	// +kubebuilder:default:="2h"
	// +optional
	BlockSize Duration `json:"blockSize,omitempty"`

	// GetConfigInterval is a setting.
	//
	// +optional
	GetConfigInterval Duration `json:"getConfigInterval,omitempty"`

	// GetConfigTimeout is a setting.
	//
	// +optional
	GetConfigTimeout Duration `json:"getConfigTimeout,omitempty"`

	// GRPCListenLocal is a setting.
	//
	// +optional
	GRPCListenLocal bool `json:"grpcListenLocal,omitempty"`

	// GRPCServerTLSConfig is a setting.
	//
	// +optional
	GRPCServerTLSConfig *GRPCServerTLSConfig `json:"grpcServerTlsConfig,omitempty"`

	// HTTPListenLocal is a setting.
	//
	// +optional
	HTTPListenLocal bool `json:"httpListenLocal,omitempty"`

	// Image is a setting.
	//
	// +optional
	Image string `json:"image,omitempty"`

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

	// MinTime is a setting.
	//
	// +optional
	MinTime string `json:"minTime,omitempty"`

	// ObjectStorageConfig is a setting.
	//
	// +optional
	ObjectStorageConfig *corev1.SecretKeySelector `json:"objectStorageConfig,omitempty"`

	// ObjectStorageConfigFile is a setting.
	//
	// +optional
	ObjectStorageConfigFile string `json:"objectStorageConfigFile,omitempty"`

	// ReadyTimeout is a setting.
	//
	// +optional
	ReadyTimeout Duration `json:"readyTimeout,omitempty"`

	// Resources is a setting.
	//
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// SHA is a setting.
	//
	// +optional
	SHA string `json:"sha,omitempty"`

	// Tag is a setting.
	//
	// +optional
	Tag string `json:"tag,omitempty"`

	// TracingConfig is a setting.
	//
	// +optional
	TracingConfig *corev1.SecretKeySelector `json:"tracingConfig,omitempty"`

	// TracingConfigFile is a setting.
	//
	// +optional
	TracingConfigFile string `json:"tracingConfigFile,omitempty"`

	// Version is a setting.
	//
	// +optional
	Version string `json:"version,omitempty"`

	// VolumeMounts is a setting.
	//
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
}
