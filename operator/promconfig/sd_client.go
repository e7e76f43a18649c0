package promconfig

import (
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

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
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
	// EnableHTTP2 towards the server.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
}

// sdClient is the HTTP client of a discovery. Each mechanism places the parts
// where it has them.
type sdClient struct {
	Credentials
	Redirects

	proxy Proxy
	tls   *TLSConfig
}

// sdClient checks and reads the HTTP client of one entry.
func (c *compiler) sdClient(t *v1alpha1.HTTPTransport, cr v1alpha1.HTTPCredentials) (out sdClient, err error) {
	out.FollowRedirects, out.EnableHTTP2 = t.FollowRedirects, t.EnableHTTP2
	if out.Credentials, err = c.credentials(cr); err != nil {
		return sdClient{}, err
	}
	if out.tls, err = c.own.tls(fullTLS(t.TLSConfig)); err != nil {
		return sdClient{}, at("tlsConfig", err)
	}
	if err := checkProxy(t.ProxyConfig); err != nil {
		return sdClient{}, err
	}
	out.proxy, err = c.own.proxy(t.ProxyConfig)
	return out, err
}

// credentials reads at most one way to authenticate. An empty block counts as given.
func (c *compiler) credentials(cr v1alpha1.HTTPCredentials) (out Credentials, err error) {
	if err := atMostOne([]way{
		{"basicAuth", cr.BasicAuth != nil}, {"authorization", cr.Authorization != nil}, {"oauth2", cr.OAuth2 != nil},
	}); err != nil {
		return Credentials{}, err
	}
	if out.BasicAuth, err = c.own.basicAuth(cr.BasicAuth); err != nil {
		return Credentials{}, at("basicAuth", err)
	}
	if cr.Authorization != nil {
		if err := checkAuthorizationType(cr.Authorization.Type); err != nil {
			return Credentials{}, at("authorization", err)
		}
	}
	if out.Authorization, err = c.own.authorization(cr.Authorization); err != nil {
		return Credentials{}, at("authorization", err)
	}
	if out.OAuth2, err = c.own.oauth2(cr.OAuth2); err != nil {
		return Credentials{}, at("oauth2", err)
	}
	return out, nil
}
