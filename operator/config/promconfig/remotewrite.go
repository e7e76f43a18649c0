package promconfig

import (
	"errors"

	promcfg "github.com/prometheus/prometheus/config"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// RemoteWrite is one entry of remote_write.
type RemoteWrite struct {
	// URL is the endpoint to write to.
	URL string `yaml:"url"`
	// RemoteTimeout is the timeout of a request.
	RemoteTimeout v1.Duration `yaml:"remote_timeout,omitempty"`
	// Headers are sent with each request.
	Headers map[string]string `yaml:"headers,omitempty" since:"2.15.0"`
	// Name is used in metrics and logs.
	Name string `yaml:"name,omitempty" since:"2.15.0"`
	// ProtobufMessage is the format of requests.
	ProtobufMessage string `yaml:"protobuf_message,omitempty" since:"2.54.0,thanos=0.37.0"`
	// SendExemplars enables sending exemplars.
	SendExemplars *bool `yaml:"send_exemplars,omitempty" since:"2.27.0"`
	// SendNativeHistograms enables sending native histograms.
	SendNativeHistograms *bool `yaml:"send_native_histograms,omitempty" since:"2.40.0,thanos=0.30.0"`
	// WriteRelabelConfigs are applied to samples before they are sent.
	WriteRelabelConfigs []Step `yaml:"write_relabel_configs,omitempty"`
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// BearerToken is in plain text; deprecated.
	BearerToken string `yaml:"bearer_token,omitempty"`
	// BearerTokenFile is a path in the container; deprecated.
	BearerTokenFile string `yaml:"bearer_token_file,omitempty"`
	// OAuth2 holds OAuth 2.0 client credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// TLSConfig is used for connections to the endpoint.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// Proxy is used for connections to the endpoint.
	clientconfig.Proxy `yaml:",inline"`
	// SigV4 signs requests for AWS.
	SigV4 *clientconfig.SigV4 `yaml:"sigv4,omitempty" since:"2.26.0"`
	// AzureAD holds credentials for Azure AD.
	AzureAD *clientconfig.AzureAD `yaml:"azuread,omitempty" since:"2.45.0,thanos=0.31.0"`
	// FollowRedirects enables following HTTP redirects.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
	// EnableHTTP2 enables HTTP/2 for connections to the endpoint.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0,thanos=0.28.0"`
	// QueueConfig holds the settings of the sending queue.
	QueueConfig *QueueConfig `yaml:"queue_config,omitempty"`
	// MetadataConfig controls whether metadata is sent.
	MetadataConfig *MetadataConfig `yaml:"metadata_config,omitempty" since:"2.23.0"`
	// RoundRobinDNS distributes connections over all addresses of the host.
	RoundRobinDNS *bool `yaml:"round_robin_dns,omitempty" since:"3.1.0,thanos=0.38.0"`
}

// QueueConfig is the queue_config block. Zero values mean the server's defaults.
type QueueConfig struct {
	// Capacity is the buffer size of one shard in samples.
	Capacity int `yaml:"capacity,omitempty"`
	// MinShards is the initial number of shards.
	MinShards int `yaml:"min_shards,omitempty" since:"2.6.0"`
	// MaxShards is the maximum number of shards.
	MaxShards int `yaml:"max_shards,omitempty"`
	// MaxSamplesPerSend is the maximum number of samples per request.
	MaxSamplesPerSend int `yaml:"max_samples_per_send,omitempty"`
	// BatchSendDeadline is the maximum time that a sample waits in the buffer.
	BatchSendDeadline v1.Duration `yaml:"batch_send_deadline,omitempty"`
	// MaxRetries is the maximum number of retries of one request.
	MaxRetries int `yaml:"max_retries,omitempty" since:"thanos=never" until:"2.11.0"`
	// MinBackoff is the minimum time between retries.
	MinBackoff v1.Duration `yaml:"min_backoff,omitempty"`
	// MaxBackoff is the maximum time between retries.
	MaxBackoff v1.Duration `yaml:"max_backoff,omitempty"`
	// RetryOnRateLimit retries on status 429.
	RetryOnRateLimit bool `yaml:"retry_on_http_429,omitempty" since:"2.26.0"`
	// SampleAgeLimit is the age above which samples are dropped.
	SampleAgeLimit v1.Duration `yaml:"sample_age_limit,omitempty" since:"2.50.0,thanos=0.32.0"`
}

// MetadataConfig is the metadata_config block.
type MetadataConfig struct {
	// Send is always written.
	Send bool `yaml:"send"`
	// SendInterval is the interval between sends.
	SendInterval v1.Duration `yaml:"send_interval,omitempty"`
	// MaxSamplesPerSend is the maximum number of samples per request.
	MaxSamplesPerSend *int32 `yaml:"max_samples_per_send,omitempty" since:"2.29.0"`
}

// remoteWrites validates and resolves the list; errors contain the index of the entry.
func (r *resolver) remoteWrites(specs []v1.RemoteWriteSpec, rules relabelRules) ([]*RemoteWrite, error) {
	var errs faults.List
	errs.Add("", checkDistinct("remoteWrite", specs, func(s *v1.RemoteWriteSpec) string { return s.Name }))
	var out []*RemoteWrite
	set(&errs, "", &out)(faults.Convert("remoteWrite", specs, func(s *v1.RemoteWriteSpec) (*RemoteWrite, error) {
		return r.remoteWrite(s, rules)
	}))
	if errs.Any() {
		return nil, errs.Err()
	}
	return out, checkEqual[promcfg.RemoteWriteConfig]("remoteWrite", out, rules.target)
}

func (r *resolver) remoteWrite(s *v1.RemoteWriteSpec, rules relabelRules) (*RemoteWrite, error) {
	out := &RemoteWrite{
		URL: s.URL, RemoteTimeout: s.RemoteTimeout, Headers: s.Headers, Name: s.Name,
		ProtobufMessage: protobufMessage(s.MessageVersion), SendExemplars: s.SendExemplars,
		SendNativeHistograms: s.SendNativeHistograms, WriteRelabelConfigs: appendRelabel(nil, s.WriteRelabelConfigs),
		BearerToken: s.BearerToken, BearerTokenFile: s.BearerTokenFile, FollowRedirects: s.FollowRedirects,
		EnableHTTP2: s.EnableHTTP2, QueueConfig: queueConfig(s.QueueConfig),
		MetadataConfig: metadataConfig(s), RoundRobinDNS: s.RoundRobinDNS,
	}
	return out, errors.Join(checkRemoteWrite(s, rules), r.remoteWriteCredentials(s, out))
}

func (r *resolver) remoteWriteCredentials(s *v1.RemoteWriteSpec, out *RemoteWrite) error {
	var errs faults.List
	set(&errs, "basicAuth", &out.BasicAuth)(r.BasicAuth(s.BasicAuth))
	set(&errs, "oauth2", &out.OAuth2)(r.OAuth2(s.OAuth2))
	set(&errs, "tlsConfig", &out.TLSConfig)(r.TLS(s.TLSConfig))
	set(&errs, "authorization", &out.Authorization)(r.FullAuthorization(s.Authorization))
	set(&errs, "sigv4", &out.SigV4)(r.SigV4(s.Sigv4))
	set(&errs, "azureAd", &out.AzureAD)(r.AzureAD(s.AzureAD))
	set(&errs, "", &out.Proxy)(r.Proxy(s.ProxyConfig))
	return errs.Err()
}

func protobufMessage(v v1.RemoteWriteMessageVersion) string {
	switch v {
	case "":
		return ""
	case v1.RemoteWriteMessageVersion2_0:
		return "io.prometheus.write.v2.Request"
	}
	return "prometheus.WriteRequest"
}

func queueConfig(q *v1.QueueConfig) *QueueConfig {
	if q == nil {
		return nil
	}
	return &QueueConfig{
		Capacity: q.Capacity, MinShards: q.MinShards, MaxShards: q.MaxShards, MaxSamplesPerSend: q.MaxSamplesPerSend,
		BatchSendDeadline: q.BatchSendDeadline, MaxRetries: q.MaxRetries, MinBackoff: q.MinBackoff, MaxBackoff: q.MaxBackoff,
		RetryOnRateLimit: q.RetryOnRateLimit, SampleAgeLimit: q.SampleAgeLimit,
	}
}

// metadataConfig disables sending metadata for requests of version 2. These contain the
// metadata already, and the server rejects sending it twice.
func metadataConfig(s *v1.RemoteWriteSpec) *MetadataConfig {
	m := s.MetadataConfig
	if m == nil {
		return nil
	}
	return &MetadataConfig{
		Send:         m.Send != nil && *m.Send && s.MessageVersion != v1.RemoteWriteMessageVersion2_0,
		SendInterval: m.SendInterval, MaxSamplesPerSend: m.MaxSamplesPerSend,
	}
}
