package clientconfig

import v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"

// Credentials are ways to authenticate, of which one may be used.
type Credentials struct {
	// BasicAuth credentials.
	BasicAuth *BasicAuth `yaml:"basic_auth,omitempty"`
	// Tokens of either kind.
	Tokens `yaml:",inline"`
}

// Tokens are the ways to authenticate with a token.
type Tokens struct {
	// Authorization header.
	Authorization *Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// OAuth2 credentials.
	OAuth2 *OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
}

// Redirects are the switches of an HTTP client.
type Redirects struct {
	// FollowRedirects of the server.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0,alertmanager=0.22.0"`
	// EnableHTTP2 towards the server.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0,alertmanager=0.25.0"`
}

// Client is the HTTP client of one endpoint. Each kind of entry places its blocks
// where it has them.
type Client struct {
	Credentials
	Redirects
	// Proxy towards the endpoint.
	Proxy Proxy
	// TLS towards the endpoint.
	TLS *TLSConfig
}

// Client checks and reads the blocks of an HTTP client, but for its bearer token.
// That only one way to authenticate is given, the caller says with [AtMostOne]:
// it knows what else there is.
func (r *Resolver) Client(h v1.HTTPConfigWithoutTLS, t *v1.TLSConfig, p v1.ProxyConfig) (out Client, err error) {
	out.FollowRedirects, out.EnableHTTP2 = h.FollowRedirects, h.EnableHTTP2
	if out.BasicAuth, err = r.BasicAuth(h.BasicAuth); err != nil {
		return Client{}, At("basicAuth", err)
	}
	if out.TLS, err = r.TLS(t); err != nil {
		return Client{}, At("tlsConfig", err)
	}
	if out.Authorization, err = r.Authorization(h.Authorization); err != nil {
		return Client{}, At("authorization", err)
	}
	if out.OAuth2, err = r.OAuth2(h.OAuth2); err != nil {
		return Client{}, At("oauth2", err)
	}
	out.Proxy, err = r.Proxy(p)
	return out, err
}
