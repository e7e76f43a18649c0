package promconfig

import (
	"errors"
	"maps"
	"slices"

	promcfg "github.com/prometheus/prometheus/config"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// RemoteRead is one entry of remote_read.
type RemoteRead struct {
	// URL is the endpoint to read from.
	URL string `yaml:"url"`
	// RemoteTimeout is the timeout of a request.
	RemoteTimeout v1.Duration `yaml:"remote_timeout,omitempty"`
	// Headers are sent with each request.
	Headers map[string]string `yaml:"headers,omitempty" since:"2.26.0"`
	// Name is used in metrics and logs.
	Name string `yaml:"name,omitempty" since:"2.15.0"`
	// RequiredMatchers must be part of a query to use this endpoint.
	RequiredMatchers map[string]string `yaml:"required_matchers,omitempty"`
	// ReadRecent also queries time ranges that local storage should cover.
	ReadRecent bool `yaml:"read_recent,omitempty"`
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
	// FollowRedirects enables following HTTP redirects.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
	// FilterExternalLabels removes external labels from the selectors of the request.
	FilterExternalLabels *bool `yaml:"filter_external_labels,omitempty" since:"2.34.0"`
}

// remoteReads validates and resolves the list; errors contain the index of the entry.
func (r *resolver) remoteReads(specs []v1.RemoteReadSpec, t gate.Target) ([]*RemoteRead, error) {
	var errs faults.List
	errs.Add("", checkDistinct("remoteRead", specs, func(s *v1.RemoteReadSpec) string { return s.Name }))
	var out []*RemoteRead
	set(&errs, "", &out)(faults.Convert("remoteRead", specs, func(s *v1.RemoteReadSpec) (*RemoteRead, error) {
		return r.remoteRead(s, namesOf(t, "").plain) // the scheme does not apply to them
	}))
	if errs.Any() {
		return nil, errs.Err()
	}
	return out, checkEqual[promcfg.RemoteReadConfig]("remoteRead", out, t)
}

func (r *resolver) remoteRead(s *v1.RemoteReadSpec, names charset) (*RemoteRead, error) {
	out := &RemoteRead{
		URL: s.URL, RemoteTimeout: s.RemoteTimeout, Headers: s.Headers, Name: s.Name, RequiredMatchers: s.RequiredMatchers,
		ReadRecent: s.ReadRecent, BearerToken: s.BearerToken, BearerTokenFile: s.BearerTokenFile,
		FollowRedirects: s.FollowRedirects, FilterExternalLabels: s.FilterExternalLabels,
	}
	var errs faults.List
	errs.Add("", clientconfig.AtMostOne(
		way("basicAuth", s.BasicAuth != nil), way("oauth2", s.OAuth2 != nil), way("authorization", s.Authorization != nil),
		way("bearerToken", s.BearerToken != ""), way("bearerTokenFile", s.BearerTokenFile != ""),
	))
	errs.Add("", errors.Join(checkEndpoint("url", s.URL), checkHeaders(s.Headers, otherThanHeader), checkMatchers(s.RequiredMatchers, names)))
	set(&errs, "basicAuth", &out.BasicAuth)(r.BasicAuth(s.BasicAuth))
	set(&errs, "oauth2", &out.OAuth2)(r.OAuth2(s.OAuth2))
	set(&errs, "tlsConfig", &out.TLSConfig)(r.TLS(s.TLSConfig))
	set(&errs, "authorization", &out.Authorization)(r.FullAuthorization(s.Authorization))
	set(&errs, "", &out.Proxy)(r.Proxy(s.ProxyConfig))
	return out, errs.Err()
}

// checkMatchers rejects names that are not label names for the version.
func checkMatchers(matchers map[string]string, names charset) error {
	for _, name := range slices.Sorted(maps.Keys(matchers)) {
		if !names.valid(name) {
			return faults.At(faults.Key("requiredMatchers", name), invalidName(name))
		}
	}
	return nil
}
