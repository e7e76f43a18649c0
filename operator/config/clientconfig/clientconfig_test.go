package clientconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// httpConfig contains all shared blocks, like the http_config of a receiver.
type httpConfig struct {
	Credentials `yaml:",inline"`
	TLS         *TLSConfig `yaml:"tls_config,omitempty"`
	Proxy       `yaml:",inline"`
	Redirects   `yaml:",inline"`
	SigV4       *SigV4 `yaml:"sigv4,omitempty"`
}

const everything = `
basicAuth: {username: {name: s, key: k}, password: {name: s, key: k}}
oauth2: {clientId: {secret: {name: s, key: k}}, clientSecret: {name: s, key: k}, tokenUrl: "http://i", tlsConfig: {serverName: x}, proxyUrl: "http://p", noProxy: x}
tlsConfig: {minVersion: TLS12, maxVersion: TLS13}
proxyUrl: "http://p"
noProxy: x
proxyConnectHeader: {h: [{name: s, key: k}]}
followRedirects: false
enableHttp2: false
`

// perProgram is the expected result for a version of a program.
type perProgram struct {
	program       gate.Program
	version, want string
}

// checkEach compares the results of ask for each program.
func checkEach(t *testing.T, cases []perProgram, ask func(*Resolver, gate.Target) string) {
	t.Helper()
	for _, tc := range cases {
		target := gate.Target{Program: tc.program, Version: semver.MustParse(tc.version)}
		if got := ask(New("default", objects(), "/certs", target), target); got != tc.want {
			t.Errorf("%s %s:\n got  %s\n want %s", tc.program, tc.version, got, tc.want)
		}
	}
}

// TestGatesOfEachProgram: keys that each version does not support are omitted.
func TestGatesOfEachProgram(t *testing.T) {
	checkEach(t, []perProgram{
		{gate.Prometheus, "2.34.0", "oauth2.proxy_url oauth2.no_proxy oauth2.tls_config tls_config.min_version tls_config.max_version no_proxy proxy_connect_header enable_http2 sigv4.external_id"},
		{gate.Prometheus, "3.11.0", ""},
		{gate.Alertmanager, "0.21.0", "oauth2.proxy_url oauth2.no_proxy oauth2.tls_config tls_config.min_version tls_config.max_version no_proxy proxy_connect_header follow_redirects enable_http2 sigv4.external_id"},
		{gate.Alertmanager, "0.23.0", "oauth2.proxy_url oauth2.no_proxy oauth2.tls_config tls_config.min_version tls_config.max_version no_proxy proxy_connect_header enable_http2 sigv4.external_id"},
		{gate.Alertmanager, "0.24.0", "oauth2.proxy_url oauth2.no_proxy tls_config.min_version tls_config.max_version no_proxy proxy_connect_header enable_http2 sigv4.external_id"},
		{gate.Alertmanager, "0.25.0", "oauth2.no_proxy no_proxy proxy_connect_header sigv4.external_id"},
		{gate.Alertmanager, "0.26.0", "sigv4.external_id"},
		{gate.Alertmanager, "0.31.0", ""},
		{gate.Thanos, "0.27.0", "oauth2.proxy_url oauth2.no_proxy tls_config.min_version tls_config.max_version no_proxy proxy_connect_header sigv4.external_id"},
		{gate.Thanos, "0.42.4", "sigv4.external_id"},
	}, func(r *Resolver, target gate.Target) string {
		var spec v1.HTTPConfigWithProxyAndTLSFiles
		if err := kyaml.UnmarshalStrict([]byte(everything), &spec); err != nil {
			t.Fatal(err)
		}
		client, err := r.Client(spec.HTTPConfigWithoutTLS, spec.TLSConfig, spec.ProxyConfig)
		if err != nil {
			t.Fatal(err)
		}
		sigv4, err := r.SigV4(&v1.Sigv4{ExternalID: "x", RoleARN: "arn"})
		if err != nil {
			t.Fatal(err)
		}
		_, dropped, err := gate.Marshal(httpConfig{client.Credentials, client.TLS, client.Proxy, client.Redirects, sigv4}, target)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range dropped {
			got = append(got, d.Path)
		}
		return strings.Join(got, " ")
	})
}

// TestRulesThatCameWithAVersion: a rule applies from the version that introduced the
// block, which differs between programs.
func TestRulesThatCameWithAVersion(t *testing.T) {
	checkEach(t, []perProgram{
		{gate.Prometheus, "3.10.0", "<nil>, <nil>"},
		{gate.Prometheus, "3.11.0", "externalId needs roleArn, <nil>"},
		{gate.Prometheus, "3.4.0", "<nil>, managedIdentity.clientId: may be empty only with Prometheus >= 3.5.0"},
		{gate.Alertmanager, "0.30.0", "<nil>, <nil>"},
		{gate.Alertmanager, "0.31.0", "externalId needs roleArn, <nil>"},
		{gate.Thanos, "0.39.0", "<nil>, managedIdentity.clientId: may be empty only with Thanos >= 0.40.0"},
		{gate.Thanos, "0.42.4", "<nil>, <nil>"},
	}, func(r *Resolver, _ gate.Target) string {
		_, sigv4 := r.SigV4(&v1.Sigv4{ExternalID: "x"})
		_, azure := r.AzureAD(&v1.AzureAD{ManagedIdentity: &v1.ManagedIdentity{}})
		return fmt.Sprintf("%v, %v", sigv4, azure)
	})
}

// TestCheckOAuth2: the rules are checked without reading from the cluster.
func TestCheckOAuth2(t *testing.T) {
	good := func() *v1.OAuth2 {
		return &v1.OAuth2{TokenURL: "http://i", ClientID: v1.SecretOrConfigMap{ConfigMap: &corev1.ConfigMapKeySelector{Key: "k"}}}
	}
	for want, spoil := range map[string]func(*v1.OAuth2){
		"<nil>":                  func(*v1.OAuth2) {},
		"tokenUrl: is empty":     func(o *v1.OAuth2) { o.TokenURL = "" },
		"noProxy needs proxyUrl": func(o *v1.OAuth2) { o.NoProxy = new("x") },
		"tlsConfig: a key needs a certificate: set cert": func(o *v1.OAuth2) {
			o.TLSConfig = &v1.SafeTLSConfig{KeySecret: &corev1.SecretKeySelector{Key: "k"}}
		},
	} {
		o := good()
		spoil(o)
		if got := fmt.Sprint(CheckOAuth2(o)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if err := CheckOAuth2(nil); err != nil {
		t.Error(err)
	}
}

func objects() *assets.Static {
	r := &assets.Static{}
	r.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, StringData: map[string]string{"k": "v"}})
	return r
}
