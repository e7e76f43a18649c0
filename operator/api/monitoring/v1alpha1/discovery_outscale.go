package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// OutscaleSDConfig asks Outscale for virtual machines. Only this operator has it.
//
// +kubebuilder:validation:XValidation:rule="(has(self.basicAuth) ? 1 : 0) + (has(self.authorization) ? 1 : 0) + (has(self.oauth2) ? 1 : 0) <= 1",message="at most one of basicAuth, authorization, or oauth2 can be configured"
type OutscaleSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Access key of the API. It is not secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	AccessKey string `json:"accessKey"`

	// URL of the API. Empty means the one of the region.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes, such as `1m`, and limit of one request; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval PositiveDuration `json:"refreshInterval,omitempty"`

	// Region to look in. Empty means `eu-west-2`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// Secret key with the secret key of the API.
	//
	// +required
	SecretKey corev1.SecretKeySelector `json:"secretKey"`
}
