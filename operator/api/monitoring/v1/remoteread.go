package v1

// RemoteReadSpec holds settings.
type RemoteReadSpec struct {
	ProxyConfig `json:",inline"`

	// Authorization is a setting.
	//
	// +optional
	Authorization *Authorization `json:"authorization,omitempty"`

	// BasicAuth is a setting.
	//
	// +optional
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`

	// BearerToken is a setting.
	//
	// +optional
	BearerToken string `json:"bearerToken,omitempty"`

	// BearerTokenFile is a setting.
	//
	// +optional
	BearerTokenFile string `json:"bearerTokenFile,omitempty"`

	// FilterExternalLabels is a setting.
	//
	// +optional
	FilterExternalLabels *bool `json:"filterExternalLabels,omitempty"`

	// FollowRedirects is a setting.
	//
	// +optional
	FollowRedirects *bool `json:"followRedirects,omitempty"`

	// Headers is a setting.
	//
	// +optional
	Headers map[string]string `json:"headers,omitempty"`

	// Name is a setting.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// OAuth2 is a setting.
	//
	// +optional
	OAuth2 *OAuth2 `json:"oauth2,omitempty"`

	// ReadRecent is a setting.
	//
	// +optional
	ReadRecent bool `json:"readRecent,omitempty"`

	// RemoteTimeout is a setting.
	//
	// +optional
	RemoteTimeout Duration `json:"remoteTimeout,omitempty"`

	// RequiredMatchers is a setting.
	//
	// +optional
	RequiredMatchers map[string]string `json:"requiredMatchers,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`

	// URL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +required
	URL string `json:"url"`
}
