package thanosruler

import (
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// A spec with which the server would not start, or that the API server would reject, is
// rejected with the field as the user wrote it.
func TestRefused(t *testing.T) {
	for spec, want := range map[string]string{
		`queryConfig: {key: a}`:                                              "spec.queryConfig: needs a name and a key",
		`alertRelabelConfigs: {name: a, key: ""}`:                            "spec.alertRelabelConfigs: needs a name and a key",
		`{replicas: 2147483647, queryEndpoints: [a]}`:                        "spec.replicas: 2147483647 is more than 1000",
		`queryEndpoints: []`:                                                 "spec.queryEndpoints: must not be empty unless queryConfig is set",
		`queryEndpoints: [a, b, a]`:                                          "spec.queryEndpoints[2]: is the same as [0]",
		`queryEndpoints: [a, ""]`:                                            "spec.queryEndpoints[1]: must not be empty",
		`queryEndpoints: ["dns+http://a"]`:                                   `spec.queryEndpoints[0]: scheme "dns+http"`,
		`queryEndpoints: ["http://a b"]`:                                     "spec.queryEndpoints[0]: not a valid URL",
		`alertQueryUrl: "http://a:b"`:                                        "spec.alertQueryUrl: not a valid URL",
		`alertmanagersUrl: ["http://a", "a:9093"]`:                           "spec.alertmanagersUrl[1]: must have a scheme and a host: write http://a:9093",
		`alertmanagersUrl: ["http://user:hunter2@a b"]`:                      "spec.alertmanagersUrl[0]: not a valid URL",
		`alertmanagersUrl: ["user:hunter2@a"]`:                               "spec.alertmanagersUrl[0]: must have a scheme and a host",
		`queryEndpoints: ["http://user:hunter2@a", "http://user:hunter2@a"]`: "spec.queryEndpoints[1]: is the same as [0]",
		`queryEndpoints: ["http://user:hunter2@a:b"]`:                        "spec.queryEndpoints[0]: not a valid URL",
		`alertmanagersUrl: [""]`:                                             "spec.alertmanagersUrl[0]",
		`alertmanagersUrl: ["http://a b"]`:                                   "spec.alertmanagersUrl[0]: not a valid URL",
		`evaluationInterval: 0s`:                                             "spec.evaluationInterval: must be longer than 0",
		`resendDelay: 5`:                                                     "spec.resendDelay: ",
		`ruleQueryOffset: 1x`:                                                "spec.ruleQueryOffset: ",
		`ruleOutageTolerance: x`:                                             "spec.ruleOutageTolerance: ",
		`ruleGracePeriod: 500y`:                                              "spec.ruleGracePeriod: ",
		`retention: 1`:                                                       "spec.retention: ",
		`labels: {"a=b": c}`:                                                 `spec.labels: "a=b" is not a valid label name`,
		`{version: 0.37.0, labels: {"ä": c}}`:                                `spec.labels: "ä" is not a valid label name for version 0.37.0`,
		`routePrefix: /a*`:                                                   "spec.routePrefix: ",
		`routePrefix: "/:"`:                                                  "spec.routePrefix: ",
		`grpcServerTlsConfig: {certFile: /c}`:                                "spec.grpcServerTlsConfig: set certFile and keyFile",
		`grpcServerTlsConfig: {keyFile: /k}`:                                 "spec.grpcServerTlsConfig: set certFile and keyFile",
		`grpcServerTlsConfig: {caFile: /k}`:                                  "spec.grpcServerTlsConfig.caFile: also needs",
		`web: {tlsConfig: {}}`:                                               "spec.web.tlsConfig: no private key",
		`web: {tlsConfig: {keyFile: /k, keySecret: {name: a, key: b}, certFile: /c}}`:                             "spec.web.tlsConfig: keySecret and keyFile",
		`web: {tlsConfig: {keyFile: /k, certFile: /c, clientCAFile: /a, client_ca: {secret: {name: a, key: b}}}}`: "spec.web.tlsConfig: client_ca and clientCAFile",
		`additionalArgs: [{name: data-dir, value: /x}]`:                                                           "spec.additionalArgs: already managed by the operator: data-dir",
		`additionalArgs: [{name: http.config, value: /x}]`:                                                        "spec.additionalArgs: already managed by the operator: http.config",
		`additionalArgs: [{name: no-query}]`:                                                                      "spec.additionalArgs: already managed by the operator: query",
		`version: 0.42.0+build`:                                                                                   "spec.version: results in the label app.kubernetes.io/version",
		`volumes: [{name: tls-assets}]`:                                                                           `spec.volumes[0].name: "tls-assets" is the name of a volume of the operator; give yours another name`,
	} {
		_, err := newBuilder(ruler(t, spec), testConfig()).StatefulSet(testInputs())
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
	}
}

// Values just within the limits are accepted.
func TestNotRefused(t *testing.T) {
	for _, spec := range []string{
		`queryEndpoints: [a, "http://a", "https://a", "dns+a:9090", "dnssrv+_http._tcp.a"]`,
		`{queryConfig: {name: a, key: b}, queryEndpoints: ["", ""]}`,
		`{tracingConfig: {key: ""}, tracingConfigFile: /f}`,
		`{alertmanagersConfig: {name: a, key: b}, alertmanagersUrl: [a]}`,
		`alertmanagersUrl: ["dns+http://a", "dnssrv+http://a/b", "http://user:password@a"]`,
		`{version: 0.38.0, labels: {"ä": c, "a b": d}}`,
		`retention: 0s`,
		`routePrefix: /a:b/:c`,
		`additionalArgs: [{name: query.http-method, value: GET}]`,
		`{version: 0.20.0, additionalArgs: [{name: http.config, value: /x}]}`,
	} {
		if _, err := newBuilder(ruler(t, spec), testConfig()).StatefulSet(testInputs()); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// A ThanosRuler whose valid name results in invalid names of other objects is rejected.
func TestNamesThatAreTooLong(t *testing.T) {
	for n, want := range map[int]string{
		38: "",
		39: `metadata.name: results in the volume "thanos-ruler-`,
		49: `metadata.name: results in the pod "thanos-ruler-`,
		64: "metadata.name: results in the label thanos-ruler",
	} {
		tr := ruler(t, ``)
		tr.Name = strings.Repeat("a", n)
		_, err := newBuilder(tr, testConfig()).StatefulSet(workload.PodInputs{})
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d: %v, want %q", n, err, want)
		}
	}
	tr := ruler(t, ``)
	tr.Spec.Image = ""
	if _, err := newBuilder(tr, workload.Config{}).StatefulSet(testInputs()); err == nil || !strings.HasPrefix(err.Error(), "default image ") {
		t.Errorf("without a base image: %v", err)
	}
}
