package amconfig

import (
	"cmp"
	"errors"
	"net/url"
	"reflect"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// HTTPConfig is an http_config block of a receiver or the global section.
type HTTPConfig struct {
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"alertmanager=0.22.0" reject:"authorization"`
	// BearerToken is read from a Secret.
	BearerToken string `yaml:"bearer_token,omitempty"`
	// OAuth2 holds OAuth 2.0 client credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"alertmanager=0.22.0" reject:"oauth2"`
	// TLSConfig is used for connections to the server.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Proxy is used for connections to the server.
	clientconfig.Proxy `yaml:",inline"`
	// Redirects are options of the HTTP client.
	clientconfig.Redirects `yaml:",inline"`
}

// authenticates reports whether requests have an explicit Authorization header.
func (h *HTTPConfig) authenticates() bool {
	return h != nil && (h.Authorization != nil || h.BearerToken != "")
}

// checkHTTP checks the rules that depend neither on the version nor on Secrets. It accepts nil.
func checkHTTP(in *v1alpha1.HTTPConfig) error {
	if in == nil {
		return nil
	}
	return faults.At("httpConfig", cmp.Or(checkLegacyProxy(in), checkHTTPClient(withLegacyProxy(in))))
}

// checkLegacyProxy checks proxyURL, which the other rules treat as proxyUrl.
func checkLegacyProxy(in *v1alpha1.HTTPConfig) error {
	if in.ProxyURLOriginal == "" {
		return nil
	}
	if enabled(in.ProxyFromEnvironment) {
		return clientconfig.Exclusive("proxyFromEnvironment", "proxyURL")
	}
	if _, err := url.Parse(in.ProxyURLOriginal); err != nil {
		return faults.At("proxyURL", errors.New("is not a URL")) // the cause may contain a password
	}
	return nil
}

// withLegacyProxy returns the client with the effective proxy.
func withLegacyProxy(in *v1alpha1.HTTPConfig) *v1.HTTPConfigWithProxy {
	out := in.HTTPConfigWithProxy
	out.ProxyURL = cmp.Or(in.ProxyURLOriginal, out.ProxyURL)
	return &out
}

func checkHTTPClient(in *v1.HTTPConfigWithProxy) error {
	if err := clientconfig.AtMostOne(
		clientconfig.Way{Field: "bearerTokenSecret", Given: in.BearerTokenSecret != nil},
		clientconfig.Way{Field: "basicAuth", Given: in.BasicAuth != nil},
		clientconfig.Way{Field: "authorization", Given: in.Authorization != nil},
		clientconfig.Way{Field: "oauth2", Given: in.OAuth2 != nil},
	); err != nil {
		return err
	}
	return errors.Join(
		faults.At("authorization", checkAuthorization(in.Authorization)),
		faults.At("oauth2", clientconfig.CheckOAuth2(in.OAuth2)),
		faults.At("tlsConfig", clientconfig.CheckTLS(clientconfig.FullTLS(in.TLSConfig))),
		clientconfig.CheckProxy(in.ProxyConfig),
	)
}

func checkAuthorization(in *v1.SafeAuthorization) error {
	switch {
	case in == nil:
		return nil
	case in.Credentials == nil:
		return faults.At("credentials", errMissing)
	case in.Credentials.Name == "":
		return faults.At("credentials.name", errors.New("name of the Secret is empty"))
	}
	return clientconfig.CheckAuthorizationType(in.Type)
}

// http converts the client of a receiver; nil stays nil.
func (c *compiler) http(in *v1alpha1.HTTPConfig) (*HTTPConfig, error) {
	if in == nil {
		return nil, nil
	}
	if err := c.knownProxy(in.ProxyConfig); err != nil {
		return nil, err
	}
	return c.httpClient(withLegacyProxy(in))
}

// knownProxy rejects fields of a receiver before 0.25.0. From that version on, and in the
// global section, unsupported fields are dropped instead.
func (c *compiler) knownProxy(p v1.ProxyConfig) error {
	if c.target.AtLeast("alertmanager=0.25.0") {
		return nil
	}
	need := gate.Need(reflect.TypeFor[clientconfig.Proxy](), "no_proxy", c.target)
	for _, f := range []clientconfig.Way{
		{Field: "noProxy", Given: p.NoProxy != nil},
		{Field: "proxyFromEnvironment", Given: p.ProxyFromEnvironment != nil},
		{Field: "proxyConnectHeader", Given: p.ProxyConnectHeader != nil},
	} {
		if f.Given {
			return faults.At(f.Field, errors.New("needs Alertmanager "+need))
		}
	}
	return nil
}

// httpClient converts a client that passed checkHTTPClient.
func (c *compiler) httpClient(in *v1.HTTPConfigWithProxy) (*HTTPConfig, error) {
	client, err := c.Client(in.HTTPConfigWithoutTLS, clientconfig.FullTLS(in.TLSConfig), in.ProxyConfig)
	token, tokenErr := c.value("bearerTokenSecret", in.BearerTokenSecret)
	if err := errors.Join(err, tokenErr); err != nil {
		return nil, err
	}
	out := &HTTPConfig{
		BasicAuth: client.BasicAuth, Authorization: client.Authorization, BearerToken: token, OAuth2: client.OAuth2,
		TLSConfig: explicitTLS(client.TLS), Proxy: setProxy(client.Proxy), Redirects: client.Redirects,
	}
	if b := out.BasicAuth; b != nil && b.Username == "" && b.Password == "" {
		out.BasicAuth = nil
	}
	if a := out.Authorization; a != nil && text(a.Credentials) == "" {
		out.Authorization = nil
	}
	if o := out.OAuth2; o != nil {
		o.TLSConfig, o.Proxy = explicitTLS(o.TLSConfig), setProxy(o.Proxy)
	}
	return out, c.Known(out)
}

// tls validates and converts a standalone block; nil stays nil.
func (c *compiler) tls(field string, in *v1.SafeTLSConfig) (*clientconfig.TLSConfig, error) {
	out, err := c.TLS(clientconfig.FullTLS(in))
	return explicitTLS(out), faults.At(field, err)
}

// explicitTLS makes explicit whether certificates are verified, regardless of the default.
func explicitTLS(t *clientconfig.TLSConfig) *clientconfig.TLSConfig {
	if t != nil && t.InsecureSkipVerify == nil {
		t.InsecureSkipVerify = new(false)
	}
	return t
}

// setProxy removes values that have no effect.
func setProxy(p clientconfig.Proxy) clientconfig.Proxy {
	if text(p.NoProxy) == "" {
		p.NoProxy = nil
	}
	if !enabled(p.FromEnvironment) {
		p.FromEnvironment = nil
	}
	if len(p.ConnectHeader) == 0 {
		p.ConnectHeader = nil
	}
	return p
}
