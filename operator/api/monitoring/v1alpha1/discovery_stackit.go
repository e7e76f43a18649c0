package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// StackitSDConfig asks STACKIT for servers. With `serviceAccountKey` the client fetches its own tokens; the other
// kinds of authentication are excluded then. Only this operator has it.
//
// +kubebuilder:validation:XValidation:rule="(has(self.basicAuth) ? 1 : 0) + (has(self.authorization) ? 1 : 0) + (has(self.oauth2) ? 1 : 0) <= 1",message="at most one of basicAuth, authorization, or oauth2 can be configured"
// +kubebuilder:validation:XValidation:rule="!has(self.serviceAccountKey) || !(has(self.basicAuth) || has(self.authorization) || has(self.oauth2))",message="serviceAccountKey cannot be combined with basicAuth, authorization, or oauth2"
type StackitSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

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

	// Secret key with the private key of the service account, PEM, if it is not part of `serviceAccountKey`. Below
	// Prometheus 3.12.0 the server's page /config shows it in clear.
	//
	// +optional
	PrivateKey *corev1.SecretKeySelector `json:"privateKey,omitempty"`

	// ID of the project.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Project string `json:"project"`

	// Time between two refreshes, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval PositiveDuration `json:"refreshInterval,omitempty"`

	// Region of the API. Empty means `eu01`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// Secret key with the key of the service account, the JSON document that STACKIT hands out. Below Prometheus
	// 3.12.0 the server's page /config shows it in clear.
	//
	// +optional
	ServiceAccountKey *corev1.SecretKeySelector `json:"serviceAccountKey,omitempty"`
}
