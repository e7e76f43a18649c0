package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// HetznerRole is an enumeration.
//
// +kubebuilder:validation:Enum=hcloud;Hcloud;robot;Robot
type HetznerRole string

// Values of HetznerRole.
const (
	HetznerRoleHcloud HetznerRole = "hcloud"
	HetznerRoleRobot  HetznerRole = "robot"
)

// OVHService is an enumeration.
//
// +kubebuilder:validation:Enum=VPS;DedicatedServer
type OVHService string

// Values of OVHService.
const (
	OVHServiceVPS             OVHService = "VPS"
	OVHServiceDedicatedServer OVHService = "DedicatedServer"
)

// ScalewayRole is an enumeration.
//
// +kubebuilder:validation:Enum=Instance;Baremetal
type ScalewayRole string

// Values of ScalewayRole.
const (
	ScalewayRoleInstance  ScalewayRole = "Instance"
	ScalewayRoleBaremetal ScalewayRole = "Baremetal"
)

// DigitalOceanSDConfig holds settings.
type DigitalOceanSDConfig struct {
	HTTPTransport `json:",inline"`

	// Authorization is a setting.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// OAuth2 is a setting.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

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
}

// HetznerSDConfig holds settings.
type HetznerSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// LabelSelector is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`

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

	// Role is a setting.
	//
	// +required
	Role HetznerRole `json:"role"`
}

// IonosSDConfig holds settings.
type IonosSDConfig struct {
	HTTPTransport `json:",inline"`

	// Authorization is a setting.
	//
	// +required
	Authorization monitoringv1.SafeAuthorization `json:"authorization"`

	// DatacenterID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	DatacenterID string `json:"datacenterID"`

	// OAuth2 is a setting.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

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
}

// LinodeSDConfig holds settings.
type LinodeSDConfig struct {
	HTTPTransport `json:",inline"`

	// Authorization is a setting.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// OAuth2 is a setting.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

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

	// Region is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// TagSeparator is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`
}

// OVHCloudSDConfig holds settings.
type OVHCloudSDConfig struct {
	// ApplicationKey is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	ApplicationKey string `json:"applicationKey"`

	// ApplicationSecret is a setting.
	//
	// +required
	ApplicationSecret corev1.SecretKeySelector `json:"applicationSecret"`

	// ConsumerKey is a setting.
	//
	// +required
	ConsumerKey corev1.SecretKeySelector `json:"consumerKey"`

	// Endpoint is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Service is a setting.
	//
	// +required
	Service OVHService `json:"service"`
}

// ScalewaySDConfig holds settings.
type ScalewaySDConfig struct {
	HTTPTransport `json:",inline"`

	// AccessKey is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	AccessKey string `json:"accessKey"`

	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// NameFilter is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	NameFilter string `json:"nameFilter,omitempty"`

	// Port is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// ProjectID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	ProjectID string `json:"projectID"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Role is a setting.
	//
	// +required
	Role ScalewayRole `json:"role"`

	// SecretKey is a setting.
	//
	// +required
	SecretKey corev1.SecretKeySelector `json:"secretKey"`

	// TagsFilter is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	TagsFilter []string `json:"tagsFilter,omitempty"`

	// Zone is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Zone string `json:"zone,omitempty"`
}
