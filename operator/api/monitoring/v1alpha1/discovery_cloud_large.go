package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// AzureAuthenticationMethod is an enumeration.
//
// +kubebuilder:validation:Enum=OAuth;ManagedIdentity;SDK;WorkloadIdentity
type AzureAuthenticationMethod string

// Values of AzureAuthenticationMethod.
const (
	AuthMethodTypeOAuth            AzureAuthenticationMethod = "OAuth"
	AuthMethodTypeManagedIdentity  AzureAuthenticationMethod = "ManagedIdentity"
	AuthMethodTypeSDK              AzureAuthenticationMethod = "SDK"
	AuthMethodTypeWorkloadIdentity AzureAuthenticationMethod = "WorkloadIdentity"
)

// OpenStackRole is an enumeration.
//
// +kubebuilder:validation:Enum=Instance;Hypervisor;LoadBalancer
type OpenStackRole string

// Values of OpenStackRole.
const (
	OpenStackRoleInstance     OpenStackRole = "Instance"
	OpenStackRoleHypervisor   OpenStackRole = "Hypervisor"
	OpenStackRoleLoadBalancer OpenStackRole = "LoadBalancer"
)

// OpenStackAvailability is an enumeration.
//
// +kubebuilder:validation:Enum=Public;public;Admin;admin;Internal;internal
type OpenStackAvailability string

// Values of OpenStackAvailability.
const (
	OpenStackAvailabilityPublic   OpenStackAvailability = "public"
	OpenStackAvailabilityAdmin    OpenStackAvailability = "admin"
	OpenStackAvailabilityInternal OpenStackAvailability = "internal"
)

// EC2SDConfig holds settings.
type EC2SDConfig struct {
	HTTPTransport `json:",inline"`

	// AccessKey is a setting.
	//
	// +optional
	AccessKey *corev1.SecretKeySelector `json:"accessKey,omitempty"`

	// Filters is a setting.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Filters []Filter `json:"filters,omitempty"`

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

	// RoleARN is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	RoleARN string `json:"roleARN,omitempty"`

	// SecretKey is a setting.
	//
	// +optional
	SecretKey *corev1.SecretKeySelector `json:"secretKey,omitempty"`
}

// LightSailSDConfig holds settings.
type LightSailSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// AccessKey is a setting.
	//
	// +optional
	AccessKey *corev1.SecretKeySelector `json:"accessKey,omitempty"`

	// Endpoint is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

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

	// RoleARN is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	RoleARN string `json:"roleARN,omitempty"`

	// SecretKey is a setting.
	//
	// +optional
	SecretKey *corev1.SecretKeySelector `json:"secretKey,omitempty"`
}

// AzureSDConfig holds settings.
type AzureSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// AuthenticationMethod is a setting.
	//
	// +optional
	AuthenticationMethod AzureAuthenticationMethod `json:"authenticationMethod,omitempty"`

	// ClientID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ClientID string `json:"clientID,omitempty"`

	// ClientSecret is a setting.
	//
	// +optional
	ClientSecret *corev1.SecretKeySelector `json:"clientSecret,omitempty"`

	// Environment is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Environment string `json:"environment,omitempty"`

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

	// ResourceGroup is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ResourceGroup string `json:"resourceGroup,omitempty"`

	// SubscriptionID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	SubscriptionID string `json:"subscriptionID"`

	// TenantID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TenantID string `json:"tenantID,omitempty"`
}

// GCESDConfig holds settings.
type GCESDConfig struct {
	// Filter is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Filter string `json:"filter,omitempty"`

	// Port is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Project is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Project string `json:"project"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// TagSeparator is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`

	// Zone is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Zone string `json:"zone"`
}

// OpenStackSDConfig holds settings.
type OpenStackSDConfig struct {
	// AllTenants is a setting.
	//
	// +optional
	AllTenants *bool `json:"allTenants,omitempty"`

	// ApplicationCredentialID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ApplicationCredentialID string `json:"applicationCredentialId,omitempty"`

	// ApplicationCredentialName is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ApplicationCredentialName string `json:"applicationCredentialName,omitempty"`

	// ApplicationCredentialSecret is a setting.
	//
	// +optional
	ApplicationCredentialSecret *corev1.SecretKeySelector `json:"applicationCredentialSecret,omitempty"`

	// Availability is a setting.
	//
	// +optional
	Availability OpenStackAvailability `json:"availability,omitempty"`

	// DomainID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	DomainID string `json:"domainID,omitempty"`

	// DomainName is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	DomainName string `json:"domainName,omitempty"`

	// IdentityEndpoint is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	IdentityEndpoint string `json:"identityEndpoint,omitempty"`

	// Password is a setting.
	//
	// +optional
	Password *corev1.SecretKeySelector `json:"password,omitempty"`

	// Port is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// ProjectID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ProjectID string `json:"projectID,omitempty"`

	// ProjectName is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ProjectName string `json:"projectName,omitempty"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Region is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Region string `json:"region"`

	// Role is a setting.
	//
	// +required
	Role OpenStackRole `json:"role"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`

	// UserID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	UserID string `json:"userid,omitempty"`

	// Username is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}
