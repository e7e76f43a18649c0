package promconfig

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// Tracing is the tracing block, the destination of the server's own spans.
type Tracing struct {
	// Endpoint is host:port.
	Endpoint string `yaml:"endpoint"`
	// ClientType is http or grpc.
	ClientType string `yaml:"client_type,omitempty"`
	// SamplingFraction is the ratio of sampled requests, 0 to 1.
	SamplingFraction *float64 `yaml:"sampling_fraction,omitempty"`
	// Insecure disables TLS.
	Insecure *bool `yaml:"insecure,omitempty"`
	// Headers are sent with each request.
	Headers map[string]string `yaml:"headers,omitempty"`
	// Compression is gzip.
	Compression string `yaml:"compression,omitempty"`
	// Timeout is the timeout of each request.
	Timeout v1.Duration `yaml:"timeout,omitempty"`
	// TLSConfig is used for connections to the endpoint.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
}

func (r *resolver) tracing(t *v1.TracingConfig) (*Tracing, error) {
	if t == nil {
		return nil, nil
	}
	fraction := number(t.SamplingFraction)
	if fraction != nil && (*fraction < 0 || *fraction > 1) {
		return nil, faults.At("samplingFraction", fmt.Errorf("%v is not between 0 and 1", *fraction))
	}
	if err := checkHeaders(t.Headers, "tlsConfig, with a client certificate"); err != nil {
		return nil, err
	}
	tls, err := r.TLS(t.TLSConfig)
	if err != nil {
		return nil, faults.At("tlsConfig", err)
	}
	return &Tracing{
		Endpoint: t.Endpoint, ClientType: lower(t.ClientType), SamplingFraction: fraction, Insecure: t.Insecure,
		Headers: t.Headers, Compression: lower(t.Compression), Timeout: t.Timeout, TLSConfig: tls,
	}, nil
}
