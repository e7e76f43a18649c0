package promconfig

import (
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// TestThanosRemoteWriteErrors: an invalid second entry fails the reconciliation of a
// ThanosRuler 0.42.4 with the given error; "" means valid.
func TestThanosRemoteWriteErrors(t *testing.T) {
	const uuid = "00000000-0000-0000-0000-000000000001"
	for _, tc := range []struct{ entry, want string }{
		{`{}`, ``},
		{`{remoteTimeout: 700y}`, `spec.remoteWrite[1].remoteTimeout: "700y" is not a duration that Prometheus accepts`},
		{`{queueConfig: {maxBackoff: soon}}`, `spec.remoteWrite[1].queueConfig.maxBackoff: "soon" is not a duration`},
		{`{queueConfig: {capacity: -1}}`, `spec.remoteWrite[1].queueConfig.capacity: must not be negative`},
		{`{queueConfig: {minShards: 51}}`, ``},
		{`{basicAuth: {}}`, `spec.remoteWrite[1].basicAuth.username.name: name of the Secret is empty`},
		{`{basicAuth: {username: {name: s, key: nope}, password: {name: s, key: k}}}`, `basicAuth.username.key: Secret "default/s" has no key "nope"`},
		{`{basicAuth: {username: {name: s, key: k}, password: {name: nope, key: k}}}`, `basicAuth.password.name: Secret "default/nope" does not exist`},
		{`{basicAuth: {}, sigv4: {}}`, `spec.remoteWrite[1]: basicAuth and sigv4 are mutually exclusive`},
		{`{oauth2: {clientId: {}, clientSecret: {key: ""}, tokenUrl: ""}, azureAd: {}}`, `spec.remoteWrite[1]: oauth2 and azureAd are mutually exclusive`},
		{`{authorization: {}, bearerToken: x}`, `spec.remoteWrite[1]: authorization and bearerToken are mutually exclusive`},
		{`{sigv4: {}, bearerTokenFile: x}`, `spec.remoteWrite[1]: sigv4 and bearerTokenFile are mutually exclusive`},
		{`{authorization: {type: Basic, credentials: {name: s, key: k}}}`, `spec.remoteWrite[1].authorization.type: "Basic" is not allowed here`},
		{`{authorization: {credentials: {name: s, key: k}, credentialsFile: /x}}`, `authorization: credentials and credentialsFile are mutually exclusive`},
		{`{authorization: {credentials: {name: s, key: nope}}}`, `authorization.credentials.key: Secret "default/s" has no key "nope"`},
		{`{oauth2: {clientId: {}, clientSecret: {name: s, key: k}, tokenUrl: "http://i"}}`, `spec.remoteWrite[1].oauth2.clientId: neither secret nor configMap is given`},
		{`{oauth2: {clientId: {secret: {name: s, key: k}}, clientSecret: {name: s, key: k}, tokenUrl: ""}}`, `oauth2.tokenUrl: is empty`},
		{`{oauth2: {clientId: {configMap: {name: c, key: k}}, clientSecret: {name: s, key: k}, tokenUrl: "http://i"}}`, `oauth2.clientId.configMap.name: ConfigMap "default/c" does not exist`},
		{`{oauth2: {clientId: {secret: {name: s, key: k}}, clientSecret: {name: s, key: k}, tokenUrl: "http://i", tlsConfig: {cert: {secret: {name: s, key: k}}}}}`, `oauth2.tlsConfig: a certificate needs a key`},
		{`{oauth2: {clientId: {secret: {name: s, key: k}}, clientSecret: {name: s, key: k}, tokenUrl: "http://i", noProxy: x}}`, `oauth2: noProxy needs proxyUrl`},
		{`{basicAuth: {username: {name: s, key: k}, password: {name: s, key: variable}}}`, `basicAuth.password: Secret "default/s": the value has "$(…)" in it, which Thanos takes for an environment variable`},
		{`{oauth2: {clientId: {secret: {name: s, key: variable}}, clientSecret: {name: s, key: k}, tokenUrl: "http://i"}}`, `oauth2.clientId.secret: Secret "default/s": the value has "$(…)" in it`},
		{`{headers: {X-Tenant: $(POD_NAME)}}`, ``},
		{`{tlsConfig: {ca: {secret: {name: s, key: k}}}}`, `spec.remoteWrite[1].tlsConfig.ca: not a PEM block`},
		{`{tlsConfig: {ca: {secret: {name: s, key: empty}}}}`, `tlsConfig.ca: the value is empty`},
		{`{tlsConfig: {ca: {secret: {name: s, key: k}, configMap: {name: s, key: k}}}}`, `tlsConfig.ca: secret and configMap are mutually exclusive`},
		{`{tlsConfig: {certFile: /x}}`, `tlsConfig: a certificate needs a key`},
		{`{tlsConfig: {keySecret: {name: s, key: k}}}`, `tlsConfig: a key needs a certificate`},
		{`{tlsConfig: {cert: {secret: {name: s, key: k}}, keySecret: {name: s, key: k}}}`, `tlsConfig.cert: certificate and key do not form a pair`},
		{`{tlsConfig: {minVersion: TLS13, maxVersion: TLS12}}`, `tlsConfig.maxVersion: "TLS12" is below minVersion "TLS13"`},
		{`{sigv4: {accessKey: {name: s, key: k}}}`, `sigv4: accessKey and secretKey must be set together`},
		{`{sigv4: {accessKey: {name: s, key: k}, secretKey: {name: s, key: nope}}}`, `sigv4.secretKey.key: Secret "default/s" has no key "nope"`},
		{`{azureAd: {}}`, `spec.remoteWrite[1].azureAd: one of managedIdentity, oauth, sdk and workloadIdentity is needed`},
		{`{azureAd: {sdk: {}, managedIdentity: {}}}`, `azureAd: managedIdentity and sdk are mutually exclusive`},
		{`{azureAd: {workloadIdentity: {clientId: x, tenantId: y}}}`, `azureAd.workloadIdentity.clientId: "x" is not a UUID`},
		{`{azureAd: {oauth: {clientId: x, clientSecret: {name: s, key: k}, tenantId: x}}}`, `azureAd.oauth.clientId: "x" is not a UUID`},
		{`{azureAd: {oauth: {clientId: ` + uuid + `, clientSecret: {name: s, key: nope}, tenantId: x}}}`, `azureAd.oauth.clientSecret.key: Secret "default/s" has no key "nope"`},
		{`{noProxy: x}`, `spec.remoteWrite[1]: noProxy needs proxyUrl`},
		{`{proxyFromEnvironment: true, proxyUrl: "http://p"}`, `proxyFromEnvironment and proxyUrl are mutually exclusive`},
		{`{proxyUrl: "http://p", proxyConnectHeader: {h: [{name: s, key: nope}]}}`, `spec.remoteWrite[1].proxyConnectHeader["h"][0].key: Secret "default/s" has no key "nope"`},
		{`{proxyUrl: "http://user:hunter2@%zz"}`, `proxyUrl: is not a URL`},
		{`{writeRelabelConfigs: [{action: replace}]}`, `spec.remoteWrite[1].writeRelabelConfigs[0].targetLabel: replace needs one`},
		{`{writeRelabelConfigs: [{action: forget}]}`, `writeRelabelConfigs[0].action: "forget" is not known`},
		{`{writeRelabelConfigs: [{action: keep, regex: "("}]}`, `writeRelabelConfigs[0].regex: `},
	} {
		f, err := compileRuler(t, "0.42.4", `{remoteWrite: [{url: "http://a"}, `+strings.Replace(tc.entry, "{", `{url: "http://b", `, 1)+`]}`, rulerObjects())
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.entry, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "spec.remoteWrite[1]")):
			t.Errorf("%s:\n got  %v\n want %s", tc.entry, err, tc.want)
		case err != nil && (strings.Contains(err.Error(), "hunter2") || len(f.YAML) > 0):
			t.Errorf("%s: a secret or a file: %v\n%s", tc.entry, err, f.YAML)
		}
	}
}

// TestThanosRemoteWriteTwice: an entry that is there twice is refused, one with the name of another is not.
func TestThanosRemoteWriteTwice(t *testing.T) {
	for spec, want := range map[string]string{
		`{remoteWrite: [{url: "http://a"}, {url: "http://a"}]}`:                     "spec.remoteWrite[1]: is the same as remoteWrite[0]: remove one of them",
		`{remoteWrite: [{url: "http://a"}, {url: "http://a", remoteTimeout: 30s}]}`: "spec.remoteWrite[1]: differs from remoteWrite[0] only in values of Secrets or in what is the default, and the server takes it for the same: give it a name",
		`{remoteWrite: [{url: "http://a", name: x}, {url: "http://b", name: x}]}`:   "",
	} {
		if _, err := compileRuler(t, "0.42.4", spec, rulerObjects()); (err != nil || want != "") && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// TestThanosRemoteWriteFaults: all faults of all entries are reported together, each once.
func TestThanosRemoteWriteFaults(t *testing.T) {
	_, err := compileRuler(t, "0.42.4", `{remoteWrite: [{url: "http://a", remoteTimeout: 700y, basicAuth: {}}, {url: "http://b", azureAd: {}}, {url: "http://c", writeRelabelConfigs: [{action: forget}]}]}`, rulerObjects())
	var fields []string
	for _, f := range faults.Of(err) {
		fields = append(fields, f.Field)
	}
	want := []string{
		"spec.remoteWrite[0].remoteTimeout", "spec.remoteWrite[0].basicAuth.username.name",
		"spec.remoteWrite[1].azureAd", "spec.remoteWrite[2].writeRelabelConfigs[0].action",
	}
	slices.Sort(fields)
	slices.Sort(want)
	if !slices.Equal(fields, want) {
		t.Errorf("got  %q\nwant %q\n%v", fields, want, err)
	}
}

// A missing object is a dependency, so that the file is regenerated when it is created.
func TestThanosRemoteWriteKeepsDependenciesOnError(t *testing.T) {
	const spec = `{remoteWrite: [{url: "http://a", basicAuth: {username: {name: later, key: k}, password: {name: later, key: k}}}]}`
	f, err := compileRuler(t, "0.42.4", spec, &assets.Static{})
	if err == nil || assets.IsTemporary(err) || len(f.Deps) != 1 || f.Deps[0].Ref.Name != "later" || f.Deps[0].Version != "" {
		t.Errorf("got %+v, %v", f.Deps, err)
	}
	if _, err := compileRuler(t, "0.42.4", spec, unreachable{}); !assets.IsTemporary(err) {
		t.Errorf("a cluster that does not answer: %v", err)
	}
}

func compileRuler(t *testing.T, version, spec string, r assets.Reader) (RemoteWriteFile, error) {
	t.Helper()
	ruler := &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
	if err := kyaml.UnmarshalStrict([]byte(spec), &ruler.Spec); err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return CompileThanosRemoteWrite(ruler, semver.MustParse(version), r)
}

func rulerObjects() *assets.Static {
	r := &assets.Static{}
	r.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, StringData: map[string]string{"k": "hunter2", "empty": "", "variable": "hunter2$(NAME)"}})
	return r
}
