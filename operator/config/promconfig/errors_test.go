package promconfig

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// TestOwnerErrors: an invalid spec of a Prometheus fails its reconciliation with the
// given error; "" means valid.
func TestOwnerErrors(t *testing.T) {
	const uuid = "00000000-0000-0000-0000-000000000001"
	for _, tc := range []struct{ spec, want string }{
		{`{}`, ``},
		{`{version: latest}`, `spec.version: "latest" is not a version`},
		{`{version: v4.0.0}`, `spec.version: unsupported version "v4.0.0"`},
		{`{scrapeTimeout: 31s}`, `spec.scrapeTimeout: 31s is longer than the interval 30s`},
		{`{scrapeInterval: often}`, `spec.scrapeInterval: "often" is not a duration`},
		{`{podTargetLabels: [a, ""]}`, `spec.podTargetLabels[1]: "" does not make a valid label name`},
		{`{scrapeClasses: [{name: a, default: true}, {name: b, default: true}]}`, `spec.scrapeClasses[1].default: "a" and "b" are both the default`},
		{`{scrapeClasses: [{name: a, relabelings: [{action: replace}]}]}`, `spec.scrapeClasses[0].relabelings[0].targetLabel`},
		{`{scrapeClasses: [{name: a, metricRelabelings: [{regex: "("}]}]}`, `spec.scrapeClasses[0].metricRelabelings[0].regex`},
		{`{scrapeClasses: [{name: a, tlsConfig: {certFile: x}}]}`, `spec.scrapeClasses[0].tlsConfig: a certificate needs a key`},
		{`{scrapeClasses: [{name: a, tlsConfig: {ca: {secret: {name: s, key: nope}}}}]}`, `spec.scrapeClasses[0].tlsConfig.ca.secret.key: Secret "default/s" has no key "nope"`},
		{`{scrapeClasses: [{name: a, authorization: {type: Basic}}]}`, `spec.scrapeClasses[0].authorization.type: "Basic" is not allowed`},
		{`{scrapeClasses: [{name: a, authorization: {credentials: {name: s, key: k}, credentialsFile: x}}]}`, `credentials and credentialsFile are mutually exclusive`},
		{`{remoteRead: [{url: "http://a"}, {url: "http://a", basicAuth: {}}]}`, `spec.remoteRead[1].basicAuth.username.name: name of the Secret is empty`},
		{`{remoteRead: [{url: "http://a", noProxy: x}]}`, `spec.remoteRead[0]: noProxy needs proxyUrl`},
		{`{remoteRead: [{url: "http://a", authorization: {type: basic, credentialsFile: x}}]}`, `spec.remoteRead[0].authorization.type: "basic" is not allowed`},
		{`{remoteWrite: [{url: "http://a", basicAuth: {}, sigv4: {}}]}`, `spec.remoteWrite[0]: basicAuth and sigv4 are mutually exclusive`},
		{`{remoteWrite: [{url: "http://a", oauth2: {clientId: {}, clientSecret: {key: ""}, tokenUrl: ""}, azureAd: {}}]}`, `spec.remoteWrite[0]: oauth2 and azureAd are mutually exclusive`},
		{`{remoteWrite: [{url: "http://a", azureAd: {}}]}`, `spec.remoteWrite[0].azureAd: one of`},
		{`{remoteWrite: [{url: "http://a", azureAd: {sdk: {}, managedIdentity: {}}}]}`, `spec.remoteWrite[0].azureAd: managedIdentity and sdk are mutually exclusive`},
		{`{version: 3.4.0, remoteWrite: [{url: "http://a", azureAd: {managedIdentity: {}}}]}`, `azureAd.managedIdentity.clientId: may be empty only with Prometheus >= 3.5.0`},
		{`{version: 3.5.0, remoteWrite: [{url: "http://a", azureAd: {managedIdentity: {}}}]}`, ``},
		{`{version: 2.47.0, remoteWrite: [{url: "http://a", azureAd: {oauth: {clientId: ` + uuid + `, clientSecret: {name: s, key: k}, tenantId: x}}}]}`, `azureAd.oauth: needs Prometheus >= 2.48.0`},
		{`{remoteWrite: [{url: "http://a", azureAd: {oauth: {clientId: x, clientSecret: {name: s, key: k}, tenantId: x}}}]}`, `azureAd.oauth.clientId: "x" is not a UUID`},
		{`{remoteWrite: [{url: "http://a", azureAd: {oauth: {clientId: ` + uuid + `, clientSecret: {name: s, key: nope}, tenantId: x}}}]}`, `azureAd.oauth.clientSecret.key: Secret "default/s" has no key "nope"`},
		{`{version: 2.51.0, remoteWrite: [{url: "http://a", azureAd: {sdk: {}}}]}`, `azureAd.sdk: needs Prometheus >= 2.52.0`},
		{`{version: 3.6.0, remoteWrite: [{url: "http://a", azureAd: {workloadIdentity: {clientId: ` + uuid + `, tenantId: ` + uuid + `}}}]}`, `azureAd.workloadIdentity: needs Prometheus >= 3.7.0`},
		{`{remoteWrite: [{url: "http://a", azureAd: {workloadIdentity: {clientId: ` + uuid + `, tenantId: t}}}]}`, `azureAd.workloadIdentity.tenantId: "t" is not a UUID`},
		{`{remoteWrite: [{url: "http://a", sigv4: {accessKey: {name: s, key: k}}}]}`, `sigv4: accessKey and secretKey must be set together`},
		{`{remoteWrite: [{url: "http://a", proxyUrl: "http://p", proxyConnectHeader: {h: [{name: s, key: nope}]}}]}`, `spec.remoteWrite[0].proxyConnectHeader["h"][0].key: Secret "default/s" has no key "nope"`},
		{`{apiserverConfig: {host: h, basicAuth: {}}}`, `spec.apiserverConfig.basicAuth.username`},
		{`{apiserverConfig: {host: h, tlsConfig: {keyFile: x}}}`, `spec.apiserverConfig.tlsConfig: a key needs a certificate`},
		{`{alerting: {alertmanagers: [{name: a, port: web}, {name: a, port: web, basicAuth: {}, bearerTokenFile: x}]}}`, `spec.alerting.alertmanagers[1]: bearerTokenFile and basicAuth are mutually exclusive`},
		{`{alerting: {alertmanagers: [{name: a, port: web}, {name: "a(", port: web}]}}`, `spec.alerting.alertmanagers[1].name: "a(": error parsing regexp`},
		{`{alerting: {alertmanagers: [{name: a, port: "[w"}]}}`, `spec.alerting.alertmanagers[0].port: "[w": error parsing regexp`},
		{`{alerting: {alertmanagers: [{name: a, port: web, relabelings: [{action: hashmod}]}]}}`, `spec.alerting.alertmanagers[0].relabelings[0].modulus`},
		{`{alerting: {alertmanagers: [{name: a, port: web, alertRelabelings: [{}]}]}}`, `spec.alerting.alertmanagers[0].alertRelabelings[0].targetLabel`},
		{`{alerting: {alertmanagers: [{name: a, port: web, sigv4: {secretKey: {name: s, key: k}}}]}}`, `spec.alerting.alertmanagers[0].sigv4: accessKey and secretKey must be set together`},
		{`{additionalScrapeConfigs: {name: s, key: nope}}`, `spec.additionalScrapeConfigs.key: loading additional scrape configs failed: Secret "default/s" has no key "nope"`},
		{`{additionalScrapeConfigs: {name: s, key: k}}`, `loading additional scrape configs failed: key "k" of Secret "default/s", line 1: want a YAML list of maps, got text`},
		{`{shards: 2, additionalScrapeConfigs: {name: s, key: null-relabel}}`, `loading additional scrape configs failed: [0]: relabel_configs is not a list of maps`},
		{`{shards: 2, additionalScrapeConfigs: {name: s, key: text-relabel}}`, `loading additional scrape configs failed: [0]: relabel_configs is not a list of maps`},
		{`{additionalAlertRelabelConfigs: {name: s, key: k}}`, `loading additional alert relabel configs failed`},
		{`{additionalAlertManagerConfigs: {name: nope, key: k}}`, `loading additional alertmanager configs failed: Secret "default/nope" does not exist`},
		{`{tsdb: {staleSeriesCompactionThreshold: "1.5"}}`, `spec.tsdb.staleSeriesCompactionThreshold: 1.5 is not between 0 and 1`},
		{`{version: 2.45.0, tsdb: {staleSeriesCompactionThreshold: "-1"}}`, `spec.tsdb.staleSeriesCompactionThreshold: -1`},
		{`{enableFeatures: [st-storage], tsdb: {chunkEncoding: {floats: Xor}}}`, `spec.tsdb.chunkEncoding.floats: the encoding Xor conflicts with`},
		{`{enableFeatures: [st-storage], tsdb: {chunkEncoding: {floats: Xor2}}}`, ``},
		{`{version: 2.54.0, otlp: {}}`, `spec.otlp: needs Prometheus >= 2.55.0`},
		{`{nameValidationScheme: Legacy, otlp: {translationStrategy: NoUTF8EscapingWithSuffixes}}`, `spec.otlp.translationStrategy: NoUTF8EscapingWithSuffixes conflicts with`},
		{`{version: 3.3.0, otlp: {translationStrategy: NoTranslation}}`, `spec.otlp.translationStrategy: NoTranslation needs Prometheus >= 3.4.0`},
		{`{version: 3.5.0, otlp: {translationStrategy: UnderscoreEscapingWithoutSuffixes}}`, `needs Prometheus >= 3.6.0`},
		{`{otlp: {promoteAllResourceAttributes: true, promoteResourceAttributes: [a]}}`, `spec.otlp: promoteAllResourceAttributes and promoteResourceAttributes are mutually exclusive`},
		{`{otlp: {ignoreResourceAttributes: [a]}}`, `spec.otlp: ignoreResourceAttributes needs promoteAllResourceAttributes`},
		{`{version: 3.4.0, otlp: {ignoreResourceAttributes: [a]}}`, ``},
		{`{tracingConfig: {endpoint: e, samplingFraction: "1.1"}}`, `spec.tracingConfig.samplingFraction: 1.1 is not between 0 and 1`},
		{`{tracingConfig: {endpoint: e, tlsConfig: {certFile: x}}}`, `spec.tracingConfig.tlsConfig: a certificate needs a key`},
		{`{tracingConfig: {endpoint: e, tlsConfig: {ca: {configMap: {name: c, key: k}}}}}`, `spec.tracingConfig.tlsConfig.ca.configMap.name: ConfigMap "default/c" does not exist`},
	} {
		p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
		if err := kyaml.UnmarshalStrict([]byte(tc.spec), &p.Spec); err != nil {
			t.Fatalf("%s: %v", tc.spec, err)
		}
		err := compileOwner(p, ownerObjects())
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.spec, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s:\n got  %v\n want %s", tc.spec, err, tc.want)
		}
	}
}

func compileOwner(p *v1.Prometheus, r assets.Reader) error {
	s, err := ServerSettings(p, everything)
	if err != nil {
		return err
	}
	_, err = CompileServer(p, s, nil, r)
	return err
}

func ownerObjects() *assets.Static {
	r := &assets.Static{}
	r.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, StringData: map[string]string{
		"k": "hunter2", "null-relabel": "[{job_name: a, relabel_configs: }]", "text-relabel": "[{job_name: a, relabel_configs: [x]}]",
	}})
	return r
}

func TestErrorsContainNoSecret(t *testing.T) {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
	p.Spec.AdditionalScrapeConfigs = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}
	if err := compileOwner(p, ownerObjects()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
	p.Spec.AdditionalScrapeConfigs = nil
	p.Spec.TracingConfig = &v1.TracingConfig{TLSConfig: &v1.TLSConfig{SafeTLSConfig: v1.SafeTLSConfig{CA: v1.SecretOrConfigMap{
		Secret: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}}}}}
	if err := compileOwner(p, ownerObjects()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// unreachable is a cluster that does not respond.
type unreachable struct{}

func (unreachable) Object(assets.Ref) (assets.Object, error) {
	return assets.Object{}, errors.New("connection refused")
}

func TestUnreachableClusterIsTemporary(t *testing.T) {
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
	m.Spec.Endpoints = []v1.Endpoint{{}}
	m.Spec.Endpoints[0].BasicAuth = &v1.BasicAuth{
		Username: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"},
	}
	s := settingsOf(t, `{}`)
	f := CompileServiceMonitor(m, s, unreachable{})
	if !assets.IsTemporary(f.Err) || len(f.YAML) > 0 || f.Jobs != 0 {
		t.Errorf("got %+v", f)
	}
	if f := CompileServiceMonitor(m, s, &assets.Static{}); f.Err == nil || assets.IsTemporary(f.Err) || len(f.Deps) != 1 || f.Deps[0].Version != "" {
		t.Errorf("a missing Secret: got %+v", f)
	}
}

func settingsOf(t testing.TB, spec string) *Settings {
	t.Helper()
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
	if err := kyaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
		t.Fatal(err)
	}
	s, err := ServerSettings(p, everything)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFrameKeepsDependenciesOnError(t *testing.T) {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
	p.Spec.AdditionalScrapeConfigs = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "later"}, Key: "k"}
	f, err := CompileServer(p, settingsOf(t, `{}`), nil, &assets.Static{})
	if err == nil || len(f.Deps) != 1 || f.Deps[0].Ref.Name != "later" {
		t.Errorf("got %+v, %v", f.Deps, err)
	}
}

func TestUnmanaged(t *testing.T) {
	all := &metav1.LabelSelector{}
	for name, tc := range map[string]struct {
		set      func(*v1.PrometheusSpec)
		disabled bool
		want     bool
	}{
		"no selector":                       {func(*v1.PrometheusSpec) {}, false, true},
		"no selector, disabled by flag":     {func(*v1.PrometheusSpec) {}, true, false},
		"an empty selector is a selector":   {func(s *v1.PrometheusSpec) { s.ServiceMonitorSelector = all }, false, false},
		"pods":                              {func(s *v1.PrometheusSpec) { s.PodMonitorSelector = all }, false, false},
		"probes":                            {func(s *v1.PrometheusSpec) { s.ProbeSelector = all }, false, false},
		"scrape configs":                    {func(s *v1.PrometheusSpec) { s.ScrapeConfigSelector = all }, false, false},
		"rules and namespaces do not count": {func(s *v1.PrometheusSpec) { s.RuleSelector, s.ProbeNamespaceSelector = all, all }, false, true},
	} {
		var p v1.Prometheus
		tc.set(&p.Spec)
		if got := Unmanaged(&p, tc.disabled); got != tc.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
