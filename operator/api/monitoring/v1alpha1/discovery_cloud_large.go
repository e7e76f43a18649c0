package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// AzureAuthenticationMethod is how service discovery authenticates at Azure. SDK needs Prometheus 2.52.0,
// WorkloadIdentity 3.11.0.
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

// OpenStackRole is the kind of OpenStack object that becomes targets. LoadBalancer needs Prometheus 3.2.0.
//
// +kubebuilder:validation:Enum=Instance;Hypervisor;LoadBalancer
type OpenStackRole string

// Values of OpenStackRole.
const (
	OpenStackRoleInstance     OpenStackRole = "Instance"
	OpenStackRoleHypervisor   OpenStackRole = "Hypervisor"
	OpenStackRoleLoadBalancer OpenStackRole = "LoadBalancer"
)

// OpenStackAvailability is the kind of OpenStack endpoint to talk to. The letter case does not matter.
//
// +kubebuilder:validation:Enum=Public;public;Admin;admin;Internal;internal
type OpenStackAvailability string

// Values of OpenStackAvailability.
const (
	OpenStackAvailabilityPublic   OpenStackAvailability = "public"
	OpenStackAvailabilityAdmin    OpenStackAvailability = "admin"
	OpenStackAvailabilityInternal OpenStackAvailability = "internal"
)

// EC2SDConfig asks AWS EC2 for instances. HTTP settings need Prometheus 2.41.0; they are left out before.
type EC2SDConfig struct {
	HTTPTransport `json:",inline"`

	// Secret key with the AWS access key ID. Only together with `secretKey`; without both the default chain of
	// the AWS SDK is used.
	//
	// +optional
	AccessKey *corev1.SecretKeySelector `json:"accessKey,omitempty"`

	// Filters of the API, such as `tag:team`, by which it returns only some instances. Names must be unique.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Filters []Filter `json:"filters,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Region to look in. Empty means the value of `AWS_REGION` of container `prometheus` in the workload, and rejects the
	// object without one, because a server elsewhere than on AWS would refuse its whole configuration.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// ARN of a role to assume before asking.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	RoleARN string `json:"roleARN,omitempty"`

	// Secret key with the AWS secret access key. Only together with `accessKey`.
	//
	// +optional
	SecretKey *corev1.SecretKeySelector `json:"secretKey,omitempty"`
}

// LightSailSDConfig asks AWS Lightsail for instances (since Prometheus 2.27.0; an older one rejects the object).
type LightSailSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Secret key with the AWS access key ID. Only together with `secretKey`; without both the default chain of
	// the AWS SDK is used.
	//
	// +optional
	AccessKey *corev1.SecretKeySelector `json:"accessKey,omitempty"`

	// URL of the API, if it is not the one of AWS.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Region to look in. Empty means the value of `AWS_REGION` of container `prometheus` in the workload, and rejects the
	// object without one, because a server elsewhere than on AWS would refuse its whole configuration.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// ARN of a role to assume before asking.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	RoleARN string `json:"roleARN,omitempty"`

	// Secret key with the AWS secret access key. Only together with `accessKey`.
	//
	// +optional
	SecretKey *corev1.SecretKeySelector `json:"secretKey,omitempty"`
}

// AzureSDConfig asks Azure for virtual machines, those of scale sets included.
type AzureSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// How to authenticate. Empty means OAuth, which needs `tenantID`, `clientID` and `clientSecret`; without them
	// the object is rejected.
	//
	// +optional
	AuthenticationMethod AzureAuthenticationMethod `json:"authenticationMethod,omitempty"`

	// Client ID of the application, or of a managed identity. Needed for OAuth.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ClientID string `json:"clientID,omitempty"`

	// Secret key with the client secret. Needed for OAuth, where the value must not be empty.
	//
	// +optional
	ClientSecret *corev1.SecretKeySelector `json:"clientSecret,omitempty"`

	// Azure cloud to use, such as AzureChinaCloud. Empty means AzurePublicCloud.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Environment string `json:"environment,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `5m`; more than zero. Empty means 5m.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Resource group to look in (since Prometheus 2.35.0; an older one rejects the object). Empty means all of the
	// subscription.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ResourceGroup string `json:"resourceGroup,omitempty"`

	// ID of the subscription.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	SubscriptionID string `json:"subscriptionID"`

	// ID of the tenant. Needed for OAuth.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TenantID string `json:"tenantID,omitempty"`
}

// GCESDConfig asks Google Compute Engine for instances. Credentials come from the environment of the Prometheus
// container: the machine's service account, or the file that GOOGLE_APPLICATION_CREDENTIALS names.
type GCESDConfig struct {
	// Filter expression of the API, such as `labels.team=core`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Filter string `json:"filter,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Project to look in.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Project string `json:"project"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Text around and between the tags in the label that holds all of them. Empty means `,`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`

	// Zone to look in, such as `europe-west1-b`; several zones need several entries.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Zone string `json:"zone"`
}

// OpenStackSDConfig asks OpenStack for instances, hypervisors or load balancers. What is empty comes from the
// variables OS_* of the container.
type OpenStackSDConfig struct {
	// Whether instances of all projects are listed, which usually only administrators may. For the role Instance
	// only. Unset means false.
	//
	// +optional
	AllTenants *bool `json:"allTenants,omitempty"`

	// ID of an application credential.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ApplicationCredentialID string `json:"applicationCredentialId,omitempty"`

	// Name of an application credential; it needs a user and a domain too.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ApplicationCredentialName string `json:"applicationCredentialName,omitempty"`

	// Secret key with the secret of the application credential.
	//
	// +optional
	ApplicationCredentialSecret *corev1.SecretKeySelector `json:"applicationCredentialSecret,omitempty"`

	// Kind of endpoint of the catalog to talk to (since Prometheus 2.20.0). Empty means public.
	//
	// +optional
	Availability OpenStackAvailability `json:"availability,omitempty"`

	// ID of the domain. Not together with `domainName`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	DomainID string `json:"domainID,omitempty"`

	// Name of the domain.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	DomainName string `json:"domainName,omitempty"`

	// URL of the identity service (Keystone). Empty means the environment of the container.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	IdentityEndpoint string `json:"identityEndpoint,omitempty"`

	// Secret key with the password.
	//
	// +optional
	Password *corev1.SecretKeySelector `json:"password,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// ID of the project.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ProjectID string `json:"projectID,omitempty"`

	// Name of the project.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ProjectName string `json:"projectName,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Region to look in.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Region string `json:"region"`

	// Kind of object that becomes targets. LoadBalancer needs Prometheus 3.2.0; an older one rejects the object.
	//
	// +required
	Role OpenStackRole `json:"role"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`

	// ID of the user.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	UserID string `json:"userid,omitempty"`

	// Name of the user; it needs a domain too. Not together with `userid`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}
