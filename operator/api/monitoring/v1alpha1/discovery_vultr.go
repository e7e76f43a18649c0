package v1alpha1

// VultrSDConfig asks Vultr for instances. The API key goes into `authorization`. Only this operator has it.
//
// +kubebuilder:validation:XValidation:rule="(has(self.basicAuth) ? 1 : 0) + (has(self.authorization) ? 1 : 0) + (has(self.oauth2) ? 1 : 0) <= 1",message="at most one of basicAuth, authorization, or oauth2 can be configured"
type VultrSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

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
}
