package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// BasicAuth holds settings.
type BasicAuth struct {
	// Password is a setting.
	//
	// +optional
	Password corev1.SecretKeySelector `json:"password,omitempty"`

	// Username is a setting.
	//
	// +optional
	Username corev1.SecretKeySelector `json:"username,omitempty"`
}

// SafeAuthorization holds settings.
type SafeAuthorization struct {
	// Credentials is a setting.
	//
	// +optional
	Credentials *corev1.SecretKeySelector `json:"credentials,omitempty"`

	// Type is a setting.
	//
	// +optional
	Type string `json:"type,omitempty"`
}

// Authorization holds settings.
type Authorization struct {
	SafeAuthorization `json:",inline"`

	// CredentialsFile is a setting.
	//
	// +optional
	CredentialsFile string `json:"credentialsFile,omitempty"`
}

// OAuth2 holds settings.
type OAuth2 struct {
	ProxyConfig `json:",inline"`

	// ClientID is a setting.
	//
	// +required
	ClientID SecretOrConfigMap `json:"clientId"`

	// ClientSecret is a setting.
	//
	// +required
	ClientSecret corev1.SecretKeySelector `json:"clientSecret"`

	// EndpointParams is a setting.
	//
	// +optional
	EndpointParams map[string]string `json:"endpointParams,omitempty"`

	// Scopes is a setting.
	//
	// +optional
	Scopes []string `json:"scopes,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *SafeTLSConfig `json:"tlsConfig,omitempty"`

	// TokenURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +required
	TokenURL string `json:"tokenUrl"`
}

// Sigv4 holds settings.
//
// +kubebuilder:validation:XValidation:rule="!has(self.externalId) || has(self.roleArn)",message="externalId can only be used when roleArn is specified"
type Sigv4 struct {
	// AccessKey is a setting.
	//
	// +optional
	AccessKey *corev1.SecretKeySelector `json:"accessKey,omitempty"`

	// ExternalID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ExternalID string `json:"externalId,omitempty"`

	// Profile is a setting.
	//
	// +optional
	Profile string `json:"profile,omitempty"`

	// Region is a setting.
	//
	// +optional
	Region string `json:"region,omitempty"`

	// RoleARN is a setting.
	//
	// +optional
	RoleARN string `json:"roleArn,omitempty"`

	// SecretKey is a setting.
	//
	// +optional
	SecretKey *corev1.SecretKeySelector `json:"secretKey,omitempty"`

	// UseFIPSSTSEndpoint is a setting.
	//
	// +optional
	UseFIPSSTSEndpoint *bool `json:"useFIPSSTSEndpoint,omitempty"`
}
