package v1

// RemoteWriteMessageVersion is the version of the remote write protocol, which selects the protobuf message.
//
// +kubebuilder:validation:Enum="V1.0";"V2.0"
type RemoteWriteMessageVersion string

// Values of RemoteWriteMessageVersion.
const (
	RemoteWriteMessageVersion1_0 RemoteWriteMessageVersion = "V1.0"
	RemoteWriteMessageVersion2_0 RemoteWriteMessageVersion = "V2.0"
)

// RemoteWriteSpec is an endpoint that samples are sent to. At most one kind of authentication may be set.
type RemoteWriteSpec struct {
	ProxyConfig `json:",inline"`

	// Authorization header to send.
	//
	// +optional
	Authorization *Authorization `json:"authorization,omitempty"`

	// Azure Active Directory as authentication (since Prometheus 2.45.0).
	//
	// +optional
	AzureAD *AzureAD `json:"azureAd,omitempty"`

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

	// Whether to speak HTTP/2 if the server does (since Prometheus 2.35.0). Unset means true.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHTTP2,omitempty"`

	// Whether to follow redirects (since Prometheus 2.26.0). Unset means true.
	//
	// +optional
	FollowRedirects *bool `json:"followRedirects,omitempty"`

	// Headers to add to every request (since Prometheus 2.15.0). Headers the protocol sets cannot be
	// overwritten.
	//
	// +optional
	Headers map[string]string `json:"headers,omitempty"`

	// Version of the protocol (since Prometheus 2.54.0). Unset means V1.0.
	//
	// +optional
	MessageVersion RemoteWriteMessageVersion `json:"messageVersion,omitempty"`

	// How metadata of metrics is sent (since Prometheus 2.23.0).
	//
	// +optional
	MetadataConfig *MetadataConfig `json:"metadataConfig,omitempty"`

	// Name of the queue in metrics and logs, unique within the list (since Prometheus 2.15.0).
	//
	// +optional
	Name string `json:"name,omitempty"`

	// Token endpoint to fetch an access token from.
	//
	// +optional
	OAuth2 *OAuth2 `json:"oauth2,omitempty"`

	// Buffering, batching and retries.
	//
	// +optional
	QueueConfig *QueueConfig `json:"queueConfig,omitempty"`

	// How long a request may take. Empty means the server's default.
	//
	// +optional
	RemoteTimeout Duration `json:"remoteTimeout,omitempty"`

	// Whether to spread requests over all addresses the name resolves to (since Prometheus 3.1.0).
	//
	// +optional
	RoundRobinDNS *bool `json:"roundRobinDNS,omitempty"`

	// Whether exemplars are sent too (since Prometheus 2.27.0). They need exemplar storage.
	//
	// +optional
	SendExemplars *bool `json:"sendExemplars,omitempty"`

	// Whether native histograms are sent too (since Prometheus 2.40.0).
	//
	// +optional
	SendNativeHistograms *bool `json:"sendNativeHistograms,omitempty"`

	// AWS Signature Version 4 as authentication.
	//
	// +optional
	Sigv4 *Sigv4 `json:"sigv4,omitempty"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`

	// URL of the endpoint.
	//
	// +kubebuilder:validation:Pattern=`^(http|https)://.+$`
	// +required
	URL string `json:"url"`

	// Relabeling of samples before they are sent.
	//
	// +optional
	WriteRelabelConfigs []RelabelConfig `json:"writeRelabelConfigs,omitempty"`
}

// QueueConfig is the queue between the write-ahead log and a remote endpoint. 0 and empty mean the server's
// default.
type QueueConfig struct {
	// How long a sample waits for a batch to fill.
	//
	// +optional
	BatchSendDeadline Duration `json:"batchSendDeadline,omitempty"`

	// How many samples a shard buffers before reading from the log stops.
	//
	// +optional
	Capacity int `json:"capacity,omitempty"`

	// Longest pause between retries.
	//
	// +optional
	MaxBackoff Duration `json:"maxBackoff,omitempty"`

	// How often a batch is retried (until Prometheus 2.11.0, which retries forever).
	//
	// +optional
	MaxRetries int `json:"maxRetries,omitempty"`

	// How many samples a request carries at most.
	//
	// +optional
	MaxSamplesPerSend int `json:"maxSamplesPerSend,omitempty"`

	// Highest number of shards, that is of concurrent requests.
	//
	// +optional
	MaxShards int `json:"maxShards,omitempty"`

	// First pause between retries; it doubles from there.
	//
	// +optional
	MinBackoff Duration `json:"minBackoff,omitempty"`

	// Number of shards to start with (since Prometheus 2.6.0).
	//
	// +optional
	MinShards int `json:"minShards,omitempty"`

	// Whether to retry after the status 429 (since Prometheus 2.26.0).
	//
	// +optional
	RetryOnRateLimit bool `json:"retryOnRateLimit,omitempty"`

	// Age from which samples are dropped instead of sent; 0 means never (since Prometheus 2.50.0).
	//
	// +optional
	SampleAgeLimit Duration `json:"sampleAgeLimit,omitempty"`
}

// MetadataConfig is how type, help and unit of metrics are sent to a remote endpoint.
type MetadataConfig struct {
	// How many entries a request carries at most (since Prometheus 2.29.0).
	//
	// +kubebuilder:validation:Minimum=-1
	// +optional
	MaxSamplesPerSend *int32 `json:"maxSamplesPerSend,omitempty"`

	// Whether metadata is sent at all.
	//
	// +optional
	Send *bool `json:"send,omitempty"`

	// Time between two sends.
	//
	// +optional
	SendInterval Duration `json:"sendInterval,omitempty"`
}
