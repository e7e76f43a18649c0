package v1

// RemoteWriteMessageVersion is an enumeration.
//
// +kubebuilder:validation:Enum="V1.0";"V2.0"
type RemoteWriteMessageVersion string

// Values of RemoteWriteMessageVersion.
const (
	RemoteWriteMessageVersion1_0 RemoteWriteMessageVersion = "V1.0"
	RemoteWriteMessageVersion2_0 RemoteWriteMessageVersion = "V2.0"
)

// RemoteWriteSpec holds settings.
type RemoteWriteSpec struct {
	ProxyConfig `json:",inline"`

	// Authorization is a setting.
	//
	// +optional
	Authorization *Authorization `json:"authorization,omitempty"`

	// AzureAD is a setting.
	//
	// +optional
	AzureAD *AzureAD `json:"azureAd,omitempty"`

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

	// EnableHTTP2 is a setting.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHTTP2,omitempty"`

	// FollowRedirects is a setting.
	//
	// +optional
	FollowRedirects *bool `json:"followRedirects,omitempty"`

	// Headers is a setting.
	//
	// +optional
	Headers map[string]string `json:"headers,omitempty"`

	// MessageVersion is a setting.
	//
	// +optional
	MessageVersion RemoteWriteMessageVersion `json:"messageVersion,omitempty"`

	// MetadataConfig is a setting.
	//
	// +optional
	MetadataConfig *MetadataConfig `json:"metadataConfig,omitempty"`

	// Name is a setting.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// OAuth2 is a setting.
	//
	// +optional
	OAuth2 *OAuth2 `json:"oauth2,omitempty"`

	// QueueConfig is a setting.
	//
	// +optional
	QueueConfig *QueueConfig `json:"queueConfig,omitempty"`

	// RemoteTimeout is a setting.
	//
	// +optional
	RemoteTimeout Duration `json:"remoteTimeout,omitempty"`

	// RoundRobinDNS is a setting.
	//
	// +optional
	RoundRobinDNS *bool `json:"roundRobinDNS,omitempty"`

	// SendExemplars is a setting.
	//
	// +optional
	SendExemplars *bool `json:"sendExemplars,omitempty"`

	// SendNativeHistograms is a setting.
	//
	// +optional
	SendNativeHistograms *bool `json:"sendNativeHistograms,omitempty"`

	// Sigv4 is a setting.
	//
	// +optional
	Sigv4 *Sigv4 `json:"sigv4,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`

	// URL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +required
	URL string `json:"url"`

	// WriteRelabelConfigs is a setting.
	//
	// +optional
	WriteRelabelConfigs []RelabelConfig `json:"writeRelabelConfigs,omitempty"`
}

// QueueConfig holds settings.
type QueueConfig struct {
	// BatchSendDeadline is a setting.
	//
	// +optional
	BatchSendDeadline Duration `json:"batchSendDeadline,omitempty"`

	// Capacity is a setting.
	//
	// +optional
	Capacity int `json:"capacity,omitempty"`

	// MaxBackoff is a setting.
	//
	// +optional
	MaxBackoff Duration `json:"maxBackoff,omitempty"`

	// MaxRetries is a setting.
	//
	// +optional
	MaxRetries int `json:"maxRetries,omitempty"`

	// MaxSamplesPerSend is a setting.
	//
	// +optional
	MaxSamplesPerSend int `json:"maxSamplesPerSend,omitempty"`

	// MaxShards is a setting.
	//
	// +optional
	MaxShards int `json:"maxShards,omitempty"`

	// MinBackoff is a setting.
	//
	// +optional
	MinBackoff Duration `json:"minBackoff,omitempty"`

	// MinShards is a setting.
	//
	// +optional
	MinShards int `json:"minShards,omitempty"`

	// RetryOnRateLimit is a setting.
	//
	// +optional
	RetryOnRateLimit bool `json:"retryOnRateLimit,omitempty"`

	// SampleAgeLimit is a setting.
	//
	// +optional
	SampleAgeLimit Duration `json:"sampleAgeLimit,omitempty"`
}

// MetadataConfig holds settings.
type MetadataConfig struct {
	// MaxSamplesPerSend is a setting.
	//
	// +kubebuilder:validation:Minimum=-1
	// +optional
	MaxSamplesPerSend *int32 `json:"maxSamplesPerSend,omitempty"`

	// Send is a setting.
	//
	// +optional
	Send *bool `json:"send,omitempty"`

	// SendInterval is a setting.
	//
	// +optional
	SendInterval Duration `json:"sendInterval,omitempty"`
}
