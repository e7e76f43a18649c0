package promconfig

import (
	"fmt"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// RemoteRead is one entry of remote_read.
type RemoteRead struct {
	// URL to read from.
	URL string `yaml:"url"`
	// RemoteTimeout of a request.
	RemoteTimeout v1.Duration `yaml:"remote_timeout,omitempty"`
	// Headers of each request.
	Headers map[string]string `yaml:"headers,omitempty" since:"2.26.0"`
	// Name in metrics and logs.
	Name string `yaml:"name,omitempty" since:"2.15.0"`
	// RequiredMatchers a query must have to be sent here.
	RequiredMatchers map[string]string `yaml:"required_matchers,omitempty"`
	// ReadRecent asks also for times local storage should cover.
	ReadRecent bool `yaml:"read_recent,omitempty"`
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
	// FollowRedirects of the endpoint.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
	// FilterExternalLabels removes them from the selectors sent.
	FilterExternalLabels *bool `yaml:"filter_external_labels,omitempty" since:"2.34.0"`
}

// remoteReads checks and fills the list; errors name the entry.
func (r *resolver) remoteReads(specs []v1.RemoteReadSpec) ([]*RemoteRead, error) {
	var out []*RemoteRead
	for i := range specs {
		rr, err := r.remoteRead(&specs[i])
		if err != nil {
			return nil, fmt.Errorf("remoteRead[%d]: %w", i, err)
		}
		out = append(out, rr)
	}
	return out, nil
}

func (r *resolver) remoteRead(s *v1.RemoteReadSpec) (*RemoteRead, error) {
	out := &RemoteRead{
		URL: s.URL, RemoteTimeout: s.RemoteTimeout, Headers: s.Headers, Name: s.Name, RequiredMatchers: s.RequiredMatchers,
		ReadRecent: s.ReadRecent, BearerToken: s.BearerToken, BearerTokenFile: s.BearerTokenFile,
		FollowRedirects: s.FollowRedirects, FilterExternalLabels: s.FilterExternalLabels,
	}
	err := clientconfig.AtMostOne(
		way("basicAuth", s.BasicAuth != nil), way("oauth2", s.OAuth2 != nil), way("authorization", s.Authorization != nil),
		way("bearerToken", s.BearerToken != ""), way("bearerTokenFile", s.BearerTokenFile != ""),
	)
	if err != nil {
		return nil, err
	}
	if err = checkHeaders(s.Headers); err != nil {
		return nil, err
	}
	if out.BasicAuth, err = r.BasicAuth(s.BasicAuth); err != nil {
		return nil, fmt.Errorf("basicAuth: %w", err)
	}
	if out.OAuth2, err = r.OAuth2(s.OAuth2); err != nil {
		return nil, fmt.Errorf("oauth2: %w", err)
	}
	if out.TLSConfig, err = r.TLS(s.TLSConfig); err != nil {
		return nil, fmt.Errorf("tlsConfig: %w", err)
	}
	if out.Authorization, err = r.FullAuthorization(s.Authorization); err != nil {
		return nil, fmt.Errorf("authorization: %w", err)
	}
	out.Proxy, err = r.Proxy(s.ProxyConfig)
	return out, err
}
