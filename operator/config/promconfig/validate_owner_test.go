package promconfig

import (
	"strings"
	"testing"
)

// TestCheckOwner: workloads that Prometheus would reject are rejected. FuzzOwners found
// all of these cases.
func TestCheckOwner(t *testing.T) {
	for _, tc := range []struct{ version, spec, want string }{
		{"3.13.2", `{shards: 1000}`, ""},
		{"3.13.2", `{shards: 1001}`, "spec.shards: 1001 is more than 1000"},
		{"3.13.2", `{replicas: 2147483647}`, "spec.replicas: 2147483647 is more than 1000"},
		{"3.13.2", `{scrapeInterval: 700y}`, `spec.scrapeInterval: "700y" is not a duration that Prometheus accepts`},
		{"3.13.2", `{evaluationInterval: 700y}`, `spec.evaluationInterval: "700y" is not a duration that Prometheus accepts`},
		{"3.13.2", `{remoteWrite: [{url: "http://a"}, {url: "http://a", queueConfig: {maxBackoff: 700y}}]}`, `spec.remoteWrite[1].queueConfig.maxBackoff: "700y" is not a duration that Prometheus accepts`},
		{"3.13.2", `{enforcedBodySizeLimit: 12EiB}`, `spec.enforcedBodySizeLimit: "12EiB" is not a size that Prometheus accepts`},
		{"3.13.2", `{bodySizeLimit: 999999999999GB}`, `spec.bodySizeLimit: "999999999999GB" is not a size that Prometheus accepts`},
		{"3.13.2", `{nameValidationScheme: Legacy, nameEscapingScheme: AllowUTF8}`, "spec.nameEscapingScheme: AllowUTF8 conflicts with nameValidationScheme Legacy"},
		{"3.3.0", `{nameValidationScheme: Legacy, nameEscapingScheme: AllowUTF8}`, ""},
		{"3.13.2", `{nameValidationScheme: Legacy, otlp: {translationStrategy: NoTranslation}}`, "spec.otlp.translationStrategy: NoTranslation conflicts with nameValidationScheme Legacy"},
		{"3.13.2", `{apiserverConfig: {host: a, bearerToken: x, bearerTokenFile: /y}}`, "spec.apiserverConfig: bearerToken and bearerTokenFile are mutually exclusive: remove one of them"},
		{"3.13.2", `{apiserverConfig: {host: a, noProxy: x}}`, "spec.apiserverConfig: noProxy needs proxyUrl"},
		{"3.13.2", `{remoteRead: [{url: "http://a", authorization: {credentialsFile: /x}, bearerToken: z}]}`, "spec.remoteRead[0]: authorization and bearerToken are mutually exclusive: remove one of them"},
		{"3.13.2", `{remoteWrite: [{url: "http://a", sigv4: {region: x}, bearerTokenFile: z}]}`, "spec.remoteWrite[0]: sigv4 and bearerTokenFile are mutually exclusive: remove one of them"},
		{"3.13.2", `{remoteWrite: [{url: "http://a", writeRelabelConfigs: [{action: replace}]}]}`, "spec.remoteWrite[0].writeRelabelConfigs[0].targetLabel: replace needs one"},
		{"3.13.2", `{remoteWrite: [{url: "http://a", queueConfig: {minShards: 51}}]}`, "spec.remoteWrite[0].queueConfig.minShards: 51 is more than maxShards, 50"},
		{"3.13.2", `{remoteWrite: [{url: "http://a", queueConfig: {minShards: 51, maxShards: 60}}]}`, ""},
		{"3.7.0", `{remoteWrite: [{url: "http://a", queueConfig: {minShards: 51}}]}`, ""},
		{"2.45.0", `{remoteWrite: [{url: "http://a", queueConfig: {capacity: -1}}]}`, "spec.remoteWrite[0].queueConfig.capacity: must not be negative"},
		{"3.13.2", `{remoteWrite: [{url: "http://a", queueConfig: {minBackoff: 6s}}]}`, "spec.remoteWrite[0].queueConfig.minBackoff: 6s is longer than maxBackoff, 5s"},
		{"3.11.0", `{remoteWrite: [{url: "http://a", sigv4: {externalId: x}}]}`, "spec.remoteWrite[0].sigv4: externalId needs roleArn"},
		{"3.11.0", `{remoteWrite: [{url: "http://a", sigv4: {externalId: x, roleArn: arn}}]}`, ""},
		{"3.10.0", `{remoteWrite: [{url: "http://a", sigv4: {externalId: x}}]}`, ""},
		{"3.13.2", `{alerting: {alertmanagers: [{name: a, port: web, sigv4: {externalId: x}}]}}`, "spec.alerting.alertmanagers[0].sigv4: externalId needs roleArn"},
		{"3.13.2", `{alerting: {alertmanagers: [{name: a, port: web, noProxy: x}]}}`, "spec.alerting.alertmanagers[0]: noProxy needs proxyUrl"},
	} {
		w := &goldenInput{cluster: everything}
		if err := w.add([]byte("kind: Prometheus\nmetadata: {namespace: owner, name: test}\nspec: " + tc.spec)); err != nil {
			t.Fatal(err)
		}
		w.setVersion(tc.version)
		s, err := w.settings()
		if err == nil {
			_, err = w.compileMarked(s)
		}
		if got := strings.TrimSpace(errorText(err)); got != tc.want {
			t.Errorf("%s %s:\n got  %s\n want %s", tc.version, tc.spec, got, tc.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
