package clientconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// OAuth2 is an oauth2 block for the client credentials flow.
type OAuth2 struct {
	// ClientID is read from a Secret or ConfigMap.
	ClientID string `yaml:"client_id"`
	// ClientSecret is read from a Secret.
	ClientSecret string `yaml:"client_secret"`
	// TokenURL is the token endpoint.
	TokenURL string `yaml:"token_url"`
	// Scopes are the scopes of the token request.
	Scopes []string `yaml:"scopes,omitempty"`
	// EndpointParams are added to the token request.
	EndpointParams map[string]string `yaml:"endpoint_params,omitempty"`
	// Proxy is used for the token request. Other blocks have had these keys for longer.
	Proxy `yaml:",inline" since:"2.43.0,alertmanager=0.25.0,thanos=0.28.0"`
	// TLSConfig is used for the token request.
	TLSConfig *TLSConfig `yaml:"tls_config,omitempty" since:"2.43.0,alertmanager=0.24.0"`
}

// checkOAuth2 checks the fields that only this block has.
func checkOAuth2(o *v1.OAuth2) error {
	switch {
	case o.TokenURL == "":
		return faults.At("tokenUrl", errors.New("is empty"))
	case o.ClientID.Secret == nil && o.ClientID.ConfigMap == nil:
		return faults.At("clientId", errors.New("neither secret nor configMap is given"))
	case o.ClientID.Secret != nil && o.ClientID.ConfigMap != nil:
		return faults.At("clientId", Exclusive("secret", "configMap"))
	}
	return nil
}

// CheckOAuth2 checks all rules that do not depend on the cluster. It accepts nil.
func CheckOAuth2(o *v1.OAuth2) error {
	if o == nil {
		return nil
	}
	if err := checkOAuth2(o); err != nil {
		return err
	}
	if err := CheckProxy(o.ProxyConfig); err != nil {
		return err
	}
	return faults.At("tlsConfig", CheckTLS(FullTLS(o.TLSConfig)))
}

// OAuth2 validates and resolves the block; nil stays nil.
func (r *Resolver) OAuth2(o *v1.OAuth2) (*OAuth2, error) {
	if o == nil {
		return nil, nil
	}
	if err := checkOAuth2(o); err != nil {
		return nil, err
	}
	id, err := r.either(o.ClientID)
	if err != nil {
		return nil, faults.At("clientId", err)
	}
	if id == "" {
		return nil, faults.At("clientId", errors.New("the value is empty"))
	}
	secret, err := r.SecretKey(o.ClientSecret)
	if err != nil {
		return nil, faults.At("clientSecret", err)
	}
	proxy, err := r.Proxy(o.ProxyConfig)
	if err != nil {
		return nil, err
	}
	tls, err := r.TLS(FullTLS(o.TLSConfig))
	if err != nil {
		return nil, faults.At("tlsConfig", err)
	}
	return &OAuth2{
		ClientID: id, ClientSecret: secret, TokenURL: o.TokenURL, Scopes: o.Scopes,
		EndpointParams: o.EndpointParams, Proxy: proxy, TLSConfig: tls,
	}, nil
}
