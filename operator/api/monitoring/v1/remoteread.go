package v1

// RemoteReadSpec is an endpoint that queries read older samples from. At most one kind of authentication may be
// set.
type RemoteReadSpec struct {
	ProxyConfig `json:",inline"`

	// Authorization header to send.
	//
	// +optional
	Authorization *Authorization `json:"authorization,omitempty"`

	// User name and password to send.
	//
	// +optional
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`

	// Bearer token in plain text. Deprecated: use `authorization`; everyone who may read the object can read
	// the token.
	//
	// +optional
	BearerToken string `json:"bearerToken,omitempty"`

	// Path of a file with a bearer token. Deprecated: use `authorization`.
	//
	// +optional
	BearerTokenFile string `json:"bearerTokenFile,omitempty"`

	// Whether external labels are sent as matchers (since Prometheus 2.34.0). Unset means true.
	//
	// +optional
	FilterExternalLabels *bool `json:"filterExternalLabels,omitempty"`

	// Whether to follow redirects (since Prometheus 2.26.0). Unset means true.
	//
	// +optional
	FollowRedirects *bool `json:"followRedirects,omitempty"`

	// Headers to add to every request (since Prometheus 2.26.0). Headers the protocol sets cannot be
	// overwritten.
	//
	// +optional
	Headers map[string]string `json:"headers,omitempty"`

	// Name of the endpoint in metrics and logs, unique within the list (since Prometheus 2.15.0).
	//
	// +optional
	Name string `json:"name,omitempty"`

	// Token endpoint to fetch an access token from.
	//
	// +optional
	OAuth2 *OAuth2 `json:"oauth2,omitempty"`

	// Whether to ask the endpoint for time ranges that local storage holds completely.
	//
	// +optional
	ReadRecent bool `json:"readRecent,omitempty"`

	// How long a request may take. Empty means the server's default.
	//
	// +optional
	RemoteTimeout Duration `json:"remoteTimeout,omitempty"`

	// Equality matchers a query must have for the endpoint to be asked.
	//
	// +optional
	RequiredMatchers map[string]string `json:"requiredMatchers,omitempty"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`

	// URL of the endpoint.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +required
	URL string `json:"url"`
}
