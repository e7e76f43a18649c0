package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// AzureAD authenticates against Azure Active Directory, by exactly one of the methods.
type AzureAD struct {
	// Azure cloud to use. Empty means AzurePublic.
	//
	// +kubebuilder:validation:Enum=AzureChina;AzureGovernment;AzurePublic
	// +optional
	Cloud string `json:"cloud,omitempty"`

	// Identity that Azure assigns to the machine.
	//
	// +optional
	ManagedIdentity *ManagedIdentity `json:"managedIdentity,omitempty"`

	// Client ID and secret of an application (since Prometheus 2.48.0).
	//
	// +optional
	OAuth *AzureOAuth `json:"oauth,omitempty"`

	// Scope to ask for instead of the one of the cloud (since Prometheus 3.9.0).
	//
	// +kubebuilder:validation:Pattern=`^[\w\s:/.\\-]+$`
	// +optional
	Scope string `json:"scope,omitempty"`

	// Default credential chain of the Azure SDK (since Prometheus 2.52.0).
	//
	// +optional
	SDK *AzureSDK `json:"sdk,omitempty"`

	// Identity that Azure binds to the service account (since Prometheus 3.7.0).
	//
	// +optional
	WorkloadIdentity *AzureWorkloadIdentity `json:"workloadIdentity,omitempty"`
}

// ManagedIdentity names a managed identity of Azure.
type ManagedIdentity struct {
	// Client ID of a user-assigned identity. Empty means the system-assigned one (since Prometheus 3.5.0).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ClientID string `json:"clientId,omitempty"`
}

// AzureOAuth holds the credentials of an application in Azure.
type AzureOAuth struct {
	// Client ID of the application.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	ClientID string `json:"clientId"`

	// Secret key with the client secret.
	//
	// +required
	ClientSecret corev1.SecretKeySelector `json:"clientSecret"`

	// ID of the tenant.
	//
	// +kubebuilder:validation:Pattern=`^[0-9a-zA-Z-.]+$`
	// +kubebuilder:validation:MinLength=1
	// +required
	TenantID string `json:"tenantId"`
}

// AzureSDK uses the default credential chain of the Azure SDK.
type AzureSDK struct {
	// ID of the tenant. Empty means the one the chain finds.
	//
	// +kubebuilder:validation:Pattern=`^[0-9a-zA-Z-.]+$`
	// +optional
	TenantID string `json:"tenantId,omitempty"`
}

// AzureWorkloadIdentity names an identity that is bound to the service account of the pods.
type AzureWorkloadIdentity struct {
	// Client ID of the identity.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	ClientID string `json:"clientId"`

	// ID of the tenant.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	TenantID string `json:"tenantId"`
}
