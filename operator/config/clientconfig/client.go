package clientconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Credentials holds the authentication methods, of which at most one may be set.
type Credentials struct {
	// BasicAuth holds a user name and password.
	BasicAuth *BasicAuth `yaml:"basic_auth,omitempty"`
	// Tokens are the token-based methods.
	Tokens `yaml:",inline"`
}

// Tokens holds the token-based authentication methods.
type Tokens struct {
	// Authorization is sent as the Authorization header.
	Authorization *Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// OAuth2 holds client credentials.
	OAuth2 *OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
}

// Redirects holds the boolean options of an HTTP client.
type Redirects struct {
	// FollowRedirects enables following HTTP redirects.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0,alertmanager=0.22.0"`
	// EnableHTTP2 enables HTTP/2.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0,alertmanager=0.25.0"`
}

// Client is the HTTP client of one endpoint. Each kind of entry inlines its blocks in the
// order of that entry.
type Client struct {
	Credentials
	Redirects
	// Proxy is the proxy for requests to the endpoint.
	Proxy Proxy
	// TLS is the TLS configuration for the endpoint.
	TLS *TLSConfig
}

// Client validates and resolves the blocks of an HTTP client, except for its bearer
// token. The caller must check with [AtMostOne] that at most one authentication method is
// set, because some entries have more methods.
func (r *Resolver) Client(h v1.HTTPConfigWithoutTLS, t *v1.TLSConfig, p v1.ProxyConfig) (out Client, err error) {
	out.FollowRedirects, out.EnableHTTP2 = h.FollowRedirects, h.EnableHTTP2
	if out.BasicAuth, err = r.BasicAuth(h.BasicAuth); err != nil {
		return Client{}, faults.At("basicAuth", err)
	}
	if out.TLS, err = r.TLS(t); err != nil {
		return Client{}, faults.At("tlsConfig", err)
	}
	if out.Authorization, err = r.Authorization(h.Authorization); err != nil {
		return Client{}, faults.At("authorization", err)
	}
	if out.OAuth2, err = r.OAuth2(h.OAuth2); err != nil {
		return Client{}, faults.At("oauth2", err)
	}
	out.Proxy, err = r.Proxy(p)
	return out, err
}
