package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// BasicAuth is a user name and a password for HTTP basic authentication. Both are needed.
type BasicAuth struct {
	// Secret key with the password.
	//
	// +optional
	Password corev1.SecretKeySelector `json:"password,omitempty"`

	// Secret key with the user name.
	//
	// +optional
	Username corev1.SecretKeySelector `json:"username,omitempty"`
}

// SafeAuthorization is an Authorization header with its credentials from a Secret (since Prometheus 2.26.0,
// Alertmanager 0.22.0).
type SafeAuthorization struct {
	// Secret key with the rest of the header.
	//
	// +optional
	Credentials *corev1.SecretKeySelector `json:"credentials,omitempty"`

	// First word of the header, `Bearer` if empty. `Basic` is an error: use `basicAuth`.
	//
	// +optional
	Type string `json:"type,omitempty"`
}

// Authorization is an Authorization header with its credentials from a Secret or a file of the container.
type Authorization struct {
	SafeAuthorization `json:",inline"`

	// Path of a file with the credentials. Not together with `credentials`.
	//
	// +optional
	CredentialsFile string `json:"credentialsFile,omitempty"`
}

// OAuth2 fetches an access token by the client credentials flow (since Prometheus 2.27.0, Alertmanager 0.22.0).
// Proxy and TLS settings here are for the token endpoint and need Prometheus 2.43.0.
type OAuth2 struct {
	ProxyConfig `json:",inline"`

	// Where the client ID is.
	//
	// +required
	ClientID SecretOrConfigMap `json:"clientId"`

	// Secret key with the client secret.
	//
	// +required
	ClientSecret corev1.SecretKeySelector `json:"clientSecret"`

	// Parameters to add to the token request.
	//
	// +optional
	EndpointParams map[string]string `json:"endpointParams,omitempty"`

	// Scopes to ask for.
	//
	// +optional
	Scopes []string `json:"scopes,omitempty"`

	// TLS settings for the token endpoint.
	//
	// +optional
	TLSConfig *SafeTLSConfig `json:"tlsConfig,omitempty"`

	// URL of the token endpoint.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +required
	TokenURL string `json:"tokenUrl"`
}

// Sigv4 signs requests with AWS Signature Version 4. Without keys and profile the credentials come from the
// default chain of the AWS SDK.
//
// +kubebuilder:validation:XValidation:rule="!has(self.externalId) || has(self.roleArn)",message="externalId can only be used when roleArn is specified"
type Sigv4 struct {
	// Secret key with the AWS access key ID. Only together with `secretKey`.
	//
	// +optional
	AccessKey *corev1.SecretKeySelector `json:"accessKey,omitempty"`

	// External ID to assume the role with (since Prometheus 3.11.0, Alertmanager 0.33.0).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ExternalID string `json:"externalId,omitempty"`

	// Name of a profile of the shared AWS configuration.
	//
	// +optional
	Profile string `json:"profile,omitempty"`

	// AWS region. Empty means the one of the default chain.
	//
	// +optional
	Region string `json:"region,omitempty"`

	// ARN of a role to assume.
	//
	// +optional
	RoleARN string `json:"roleArn,omitempty"`

	// Secret key with the AWS secret access key.
	//
	// +optional
	SecretKey *corev1.SecretKeySelector `json:"secretKey,omitempty"`

	// Whether to use the FIPS endpoint of the token service (since Prometheus 2.54.0).
	//
	// +optional
	UseFIPSSTSEndpoint *bool `json:"useFIPSSTSEndpoint,omitempty"`
}
