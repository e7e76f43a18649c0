package clientconfig

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// BasicAuth is a basic_auth block.
type BasicAuth struct {
	// Username is the value in the Secret, byte for byte.
	Username string `yaml:"username"`
	// Password is the value in the Secret, byte for byte.
	Password string `yaml:"password"`
}

// BasicAuth resolves username and password; nil stays nil.
func (r *Resolver) BasicAuth(b *v1.BasicAuth) (*BasicAuth, error) {
	if b == nil {
		return nil, nil
	}
	username, err := r.SecretKey(b.Username)
	if err != nil {
		return nil, faults.At("username", err)
	}
	password, err := r.SecretKey(b.Password)
	if err != nil {
		return nil, faults.At("password", err)
	}
	return &BasicAuth{Username: username, Password: password}, nil
}

// Authorization is an authorization block.
type Authorization struct {
	// Type is the authentication scheme, "Bearer" by default.
	Type string `yaml:"type"`
	// Credentials is the value in the Secret.
	Credentials *string `yaml:"credentials,omitempty"`
	// CredentialsFile is a path in the container.
	CredentialsFile string `yaml:"credentials_file,omitempty"`
}

// Authorization resolves the block of monitors and Alertmanagers, which has no credentials file.
func (r *Resolver) Authorization(a *v1.SafeAuthorization) (*Authorization, error) {
	if a == nil {
		return nil, nil
	}
	return r.FullAuthorization(&v1.Authorization{SafeAuthorization: *a})
}

// FullAuthorization validates and resolves the block.
func (r *Resolver) FullAuthorization(a *v1.Authorization) (*Authorization, error) {
	if a == nil {
		return nil, nil
	}
	if err := CheckAuthorization(a); err != nil {
		return nil, err
	}
	out := &Authorization{Type: AuthorizationType(a.Type), CredentialsFile: a.CredentialsFile}
	if a.Credentials == nil || a.Credentials.Name == "" {
		return out, nil
	}
	value, err := r.SecretKey(*a.Credentials)
	if err != nil {
		return nil, faults.At("credentials", err)
	}
	out.Credentials = &value
	return out, nil
}

// CheckAuthorization checks the rules that do not depend on the cluster.
func CheckAuthorization(a *v1.Authorization) error {
	if a == nil {
		return nil
	}
	if a.Credentials != nil && a.CredentialsFile != "" {
		return Exclusive("credentials", "credentialsFile")
	}
	return CheckAuthorizationType(a.Type)
}

// CheckAuthorizationType rejects the scheme of basic_auth.
func CheckAuthorizationType(t string) error {
	if strings.EqualFold(strings.TrimSpace(t), "basic") {
		return faults.At("type", fmt.Errorf("%q is not allowed here, use basicAuth", t))
	}
	return nil
}

// AuthorizationType returns the authentication scheme, "Bearer" by default.
func AuthorizationType(t string) string {
	if t = strings.TrimSpace(t); t != "" {
		return t
	}
	return "Bearer"
}

// Proxy holds the proxy keys of a block.
type Proxy struct {
	// URL is the URL of the proxy.
	URL string `yaml:"proxy_url,omitempty"`
	// NoProxy is a comma-separated list of hosts that are contacted directly.
	NoProxy *string `yaml:"no_proxy,omitempty" since:"2.43.0,alertmanager=0.26.0,thanos=0.32.0"`
	// FromEnvironment uses the proxy of the container's environment.
	FromEnvironment *bool `yaml:"proxy_from_environment,omitempty" since:"2.43.0,alertmanager=0.26.0,thanos=0.32.0"`
	// ConnectHeader is sent to the proxy with CONNECT requests.
	ConnectHeader map[string][]string `yaml:"proxy_connect_header,omitnil" since:"2.43.0,alertmanager=0.26.0,thanos=0.32.0"`
}

// CheckProxy checks the rules that do not depend on the cluster.
func CheckProxy(p v1.ProxyConfig) error {
	environment := p.ProxyFromEnvironment != nil && *p.ProxyFromEnvironment
	noProxy := p.NoProxy != nil && *p.NoProxy != ""
	switch {
	case len(p.ProxyConnectHeader) > 0 && p.ProxyURL == "" && !environment:
		return errors.New("proxyConnectHeader needs proxyUrl or proxyFromEnvironment")
	case environment && p.ProxyURL != "":
		return Exclusive("proxyFromEnvironment", "proxyUrl")
	case environment && noProxy:
		return Exclusive("proxyFromEnvironment", "noProxy")
	case noProxy && p.ProxyURL == "":
		return errors.New("noProxy needs proxyUrl")
	}
	for _, header := range slices.Sorted(maps.Keys(p.ProxyConnectHeader)) {
		selectors := p.ProxyConnectHeader[header]
		if len(selectors) == 0 {
			return faults.At(faults.Key("proxyConnectHeader", header), errors.New("no Secret key is given"))
		}
		if i := slices.Index(selectors, corev1.SecretKeySelector{}); i >= 0 {
			return faults.At(faults.Index(faults.Key("proxyConnectHeader", header), i), errors.New("the Secret key is empty"))
		}
	}
	if _, err := url.Parse(p.ProxyURL); err != nil {
		return faults.At("proxyUrl", errors.New("is not a URL")) // the cause may contain a password
	}
	return nil
}

// Proxy validates p and resolves the header values.
func (r *Resolver) Proxy(p v1.ProxyConfig) (Proxy, error) {
	if err := CheckProxy(p); err != nil {
		return Proxy{}, err
	}
	out := Proxy{URL: p.ProxyURL, NoProxy: p.NoProxy, FromEnvironment: p.ProxyFromEnvironment}
	if p.ProxyConnectHeader == nil {
		return out, nil
	}
	out.ConnectHeader = make(map[string][]string, len(p.ProxyConnectHeader))
	for _, header := range slices.Sorted(maps.Keys(p.ProxyConnectHeader)) {
		values := make([]string, 0, len(p.ProxyConnectHeader[header]))
		for i, sel := range p.ProxyConnectHeader[header] {
			value, err := r.SecretKey(sel)
			if err != nil {
				return Proxy{}, faults.At(faults.Index(faults.Key("proxyConnectHeader", header), i), err)
			}
			values = append(values, value)
		}
		out.ConnectHeader[header] = values
	}
	return out, nil
}
