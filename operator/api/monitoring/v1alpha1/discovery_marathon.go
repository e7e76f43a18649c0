package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// MarathonSDConfig asks a Marathon server for the tasks of its apps. Each refresh asks one of the servers, chosen at
// random; redirects are followed whatever `followRedirects` says. Only this operator has it.
//
// +kubebuilder:validation:XValidation:rule="(has(self.authToken) ? 1 : 0) + (has(self.basicAuth) ? 1 : 0) + (has(self.authorization) ? 1 : 0) + (has(self.oauth2) ? 1 : 0) <= 1",message="at most one of authToken, basicAuth, authorization, or oauth2 can be configured"
type MarathonSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Secret key with the token of DC/OS. It is sent as `Authorization: token=<value>`, which is not a bearer
	// token. Not together with `basicAuth`, `authorization` or `oauth2`.
	//
	// +optional
	AuthToken *corev1.SecretKeySelector `json:"authToken,omitempty"`

	// Time between two refreshes, such as `30s`; more than zero. Empty means 30s.
	//
	// +optional
	RefreshInterval PositiveDuration `json:"refreshInterval,omitempty"`

	// URLs of the servers, with a host and without a slash at the end: the path of the API is appended as it is.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:Pattern=`^https?://[^/?#]+(/.*[^/])?$`
	// +required
	Servers []string `json:"servers"`
}
