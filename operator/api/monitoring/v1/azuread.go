package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// AzureAD holds settings.
type AzureAD struct {
	// Cloud is a setting.
	//
	// +kubebuilder:validation:Enum=AzureChina;AzureGovernment;AzurePublic
	// +optional
	Cloud string `json:"cloud,omitempty"`

	// ManagedIdentity is a setting.
	//
	// +optional
	ManagedIdentity *ManagedIdentity `json:"managedIdentity,omitempty"`

	// OAuth is a setting.
	//
	// +optional
	OAuth *AzureOAuth `json:"oauth,omitempty"`

	// Scope is a setting.
	//
	// +kubebuilder:validation:Pattern=`^[\w\s:/.\\-]+$`
	// +optional
	Scope string `json:"scope,omitempty"`

	// SDK is a setting.
	//
	// +optional
	SDK *AzureSDK `json:"sdk,omitempty"`

	// WorkloadIdentity is a setting.
	//
	// +optional
	WorkloadIdentity *AzureWorkloadIdentity `json:"workloadIdentity,omitempty"`
}

// ManagedIdentity holds settings.
type ManagedIdentity struct {
	// ClientID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ClientID string `json:"clientId,omitempty"`
}

// AzureOAuth holds settings.
type AzureOAuth struct {
	// ClientID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	ClientID string `json:"clientId"`

	// ClientSecret is a setting.
	//
	// +required
	ClientSecret corev1.SecretKeySelector `json:"clientSecret"`

	// TenantID is a setting.
	//
	// +kubebuilder:validation:Pattern=`^[0-9a-zA-Z-.]+$`
	// +kubebuilder:validation:MinLength=1
	// +required
	TenantID string `json:"tenantId"`
}

// AzureSDK holds settings.
type AzureSDK struct {
	// TenantID is a setting.
	//
	// +kubebuilder:validation:Pattern=`^[0-9a-zA-Z-.]+$`
	// +optional
	TenantID string `json:"tenantId,omitempty"`
}

// AzureWorkloadIdentity holds settings.
type AzureWorkloadIdentity struct {
	// ClientID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	ClientID string `json:"clientId"`

	// TenantID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	TenantID string `json:"tenantId"`
}
