package promconfig

import (
	"fmt"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// RemoteWrite is one entry of remote_write.
type RemoteWrite struct {
	// URL to write to.
	URL string `yaml:"url"`
	// RemoteTimeout of a request.
	RemoteTimeout v1.Duration `yaml:"remote_timeout,omitempty"`
	// Headers of each request.
	Headers map[string]string `yaml:"headers,omitempty" since:"2.15.0"`
	// Name in metrics and logs.
	Name string `yaml:"name,omitempty" since:"2.15.0"`
	// ProtobufMessage is the format of requests.
	ProtobufMessage string `yaml:"protobuf_message,omitempty" since:"2.54.0,thanos=0.37.0"`
	// SendExemplars over remote write.
	SendExemplars *bool `yaml:"send_exemplars,omitempty" since:"2.27.0"`
	// SendNativeHistograms over remote write.
	SendNativeHistograms *bool `yaml:"send_native_histograms,omitempty" since:"2.40.0,thanos=0.30.0"`
	// WriteRelabelConfigs are applied to what is sent.
	WriteRelabelConfigs []Step `yaml:"write_relabel_configs,omitempty"`
	// BasicAuth credentials.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// BearerToken in clear text, deprecated.
	BearerToken string `yaml:"bearer_token,omitempty"`
	// BearerTokenFile is a path in the container, deprecated.
	BearerTokenFile string `yaml:"bearer_token_file,omitempty"`
	// OAuth2 credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// TLSConfig towards the endpoint.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// Proxy towards the endpoint.
	clientconfig.Proxy `yaml:",inline"`
	// SigV4 signs requests for AWS.
	SigV4 *clientconfig.SigV4 `yaml:"sigv4,omitempty" since:"2.26.0"`
	// AzureAD credentials.
	AzureAD *clientconfig.AzureAD `yaml:"azuread,omitempty" since:"2.45.0,thanos=0.31.0"`
	// FollowRedirects of the endpoint.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
	// EnableHTTP2 towards the endpoint.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
	// QueueConfig of the sender.
	QueueConfig *QueueConfig `yaml:"queue_config,omitempty"`
	// MetadataConfig says whether metadata is sent.
	MetadataConfig *MetadataConfig `yaml:"metadata_config,omitempty" since:"2.23.0"`
	// RoundRobinDNS spreads connections over all addresses of the host.
	RoundRobinDNS *bool `yaml:"round_robin_dns,omitempty" since:"3.1.0,thanos=0.38.0"`
}

// QueueConfig is the queue_config block; zero values are the server's defaults.
type QueueConfig struct {
	// Capacity of one shard's buffer in samples.
	Capacity int `yaml:"capacity,omitempty"`
	// MinShards to start with.
	MinShards int `yaml:"min_shards,omitempty" since:"2.6.0"`
	// MaxShards to scale to.
	MaxShards int `yaml:"max_shards,omitempty"`
	// MaxSamplesPerSend in one request.
	MaxSamplesPerSend int `yaml:"max_samples_per_send,omitempty"`
	// BatchSendDeadline after which a request goes out anyway.
	BatchSendDeadline v1.Duration `yaml:"batch_send_deadline,omitempty"`
	// MaxRetries of one request.
	MaxRetries int `yaml:"max_retries,omitempty" since:"thanos=never" until:"2.11.0"`
	// MinBackoff between retries.
	MinBackoff v1.Duration `yaml:"min_backoff,omitempty"`
	// MaxBackoff between retries.
	MaxBackoff v1.Duration `yaml:"max_backoff,omitempty"`
	// RetryOnRateLimit retries on status 429.
	RetryOnRateLimit bool `yaml:"retry_on_http_429,omitempty" since:"2.26.0"`
	// SampleAgeLimit drops older samples.
	SampleAgeLimit v1.Duration `yaml:"sample_age_limit,omitempty" since:"2.50.0,thanos=0.32.0"`
}

// MetadataConfig is the metadata_config block.
type MetadataConfig struct {
	// Send is always written.
	Send bool `yaml:"send"`
	// SendInterval between two times.
	SendInterval v1.Duration `yaml:"send_interval,omitempty"`
	// MaxSamplesPerSend in one request.
	MaxSamplesPerSend *int32 `yaml:"max_samples_per_send,omitempty" since:"2.29.0"`
}

// remoteWrites checks and fills the list; errors name the entry.
func (r *resolver) remoteWrites(specs []v1.RemoteWriteSpec, rules relabelRules) ([]*RemoteWrite, error) {
	var out []*RemoteWrite
	for i := range specs {
		rw, err := r.remoteWrite(&specs[i], rules)
		if err != nil {
			return nil, fmt.Errorf("remoteWrite[%d]: %w", i, err)
		}
		out = append(out, rw)
	}
	return out, nil
}

func (r *resolver) remoteWrite(s *v1.RemoteWriteSpec, rules relabelRules) (*RemoteWrite, error) {
	if err := checkRemoteWrite(s, rules); err != nil {
		return nil, err
	}
	out := &RemoteWrite{
		URL: s.URL, RemoteTimeout: s.RemoteTimeout, Headers: s.Headers, Name: s.Name,
		ProtobufMessage: protobufMessage(s.MessageVersion), SendExemplars: s.SendExemplars,
		SendNativeHistograms: s.SendNativeHistograms, WriteRelabelConfigs: appendRelabel(nil, s.WriteRelabelConfigs),
		BearerToken: s.BearerToken, BearerTokenFile: s.BearerTokenFile, FollowRedirects: s.FollowRedirects,
		EnableHTTP2: s.EnableHTTP2, QueueConfig: queueConfig(s.QueueConfig),
		MetadataConfig: metadataConfig(s), RoundRobinDNS: s.RoundRobinDNS,
	}
	return out, r.remoteWriteCredentials(s, out)
}

func (r *resolver) remoteWriteCredentials(s *v1.RemoteWriteSpec, out *RemoteWrite) (err error) {
	if out.BasicAuth, err = r.BasicAuth(s.BasicAuth); err != nil {
		return fmt.Errorf("basicAuth: %w", err)
	}
	if out.OAuth2, err = r.OAuth2(s.OAuth2); err != nil {
		return fmt.Errorf("oauth2: %w", err)
	}
	if out.TLSConfig, err = r.TLS(s.TLSConfig); err != nil {
		return fmt.Errorf("tlsConfig: %w", err)
	}
	if out.Authorization, err = r.FullAuthorization(s.Authorization); err != nil {
		return fmt.Errorf("authorization: %w", err)
	}
	if out.SigV4, err = r.SigV4(s.Sigv4); err != nil {
		return fmt.Errorf("sigv4: %w", err)
	}
	if out.AzureAD, err = r.AzureAD(s.AzureAD); err != nil {
		return fmt.Errorf("azureAd: %w", err)
	}
	out.Proxy, err = r.Proxy(s.ProxyConfig)
	return err
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

// metadataConfig: requests of version 2 carry metadata with the samples, and
// the server refuses to send it twice.
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
