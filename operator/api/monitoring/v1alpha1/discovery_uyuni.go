package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// UyuniSDConfig asks a Uyuni or SUSE Manager server for the exporters of its systems. Only this operator has it.
//
// +kubebuilder:validation:XValidation:rule="(has(self.basicAuth) ? 1 : 0) + (has(self.authorization) ? 1 : 0) + (has(self.oauth2) ? 1 : 0) <= 1",message="at most one of basicAuth, authorization, or oauth2 can be configured"
type UyuniSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Entitlement a system must have. Empty means `monitoring_entitled`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Entitlement string `json:"entitlement,omitempty"`

	// Secret key with the password of the API user. The value must not be empty.
	//
	// +required
	Password corev1.SecretKeySelector `json:"password"`

	// Time between two refreshes, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval PositiveDuration `json:"refreshInterval,omitempty"`

	// Text between the groups in the label that holds all of them. Empty means `,`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Separator string `json:"separator,omitempty"`

	// URL of the server; the path of the API is added.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`

	// Name of the API user.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Username string `json:"username"`
}
