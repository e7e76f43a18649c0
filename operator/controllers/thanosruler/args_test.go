package thanosruler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// ruler returns a ThanosRuler with this spec. It gets a query endpoint if the spec has
// none.
func ruler(t *testing.T, spec string) *v1.ThanosRuler {
	t.Helper()
	tr := &v1.ThanosRuler{}
	tr.Namespace, tr.Name = "demo", "main"
	if err := yaml.UnmarshalStrict([]byte(spec), &tr.Spec); err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	if tr.Spec.QueryConfig == nil && tr.Spec.QueryEndpoints == nil {
		tr.Spec.QueryEndpoints = []string{"query"}
	}
	return tr
}

func rulerArgs(t *testing.T, tr *v1.ThanosRuler) []string {
	t.Helper()
	sts, err := newBuilder(tr, testConfig()).StatefulSet(testInputs())
	if err != nil {
		t.Fatal(err)
	}
	return sts.Spec.Template.Spec.Containers[0].Args
}

// Each gated argument is present or absent in the versions next to its limit.
func TestArgumentGates(t *testing.T) {
	for _, tc := range []struct {
		spec, arg string
		versions  string // "-" in front: must be absent
		field     string // reported if the argument is absent
	}{
		{`ruleQueryOffset: 1m`, "--rule-query-offset=1m", "-0.37.2 -0.38.0-rc.0 0.38.0", "spec.ruleQueryOffset"},
		{`ruleConcurrentEval: 2`, "--rule-concurrent-evaluation=2", "-0.36.1 0.37.0", "spec.ruleConcurrentEval"},
		{`ruleOutageTolerance: 1h`, "--for-outage-tolerance=1h", "-0.29.0 0.30.0", "spec.ruleOutageTolerance"},
		{`ruleGracePeriod: 1h`, "--for-grace-period=1h", "-0.29.0 0.30.0", "spec.ruleGracePeriod"},
		{`enableFeatures: [a, b]`, "--enable-feature=b", "-0.38.0 0.39.0", "spec.enableFeatures"},
		{`remoteWrite: [{url: "http://x"}]`,
			"--remote-write.config-file=/etc/thanos/config/remote-write-config/remote-write.yaml", "-0.23.1 0.24.0", "spec.remoteWrite"},
		{`grpcServerTlsConfig: {minVersion: TLS13}`, "--grpc-server-tls-min-version=1.3", "-0.36.1 0.37.0",
			"spec.grpcServerTlsConfig.minVersion"},
		{`grpcServerTlsConfig: {cipherSuites: [A, B]}`, "--grpc-server-tls-ciphers=B", "-0.41.0 0.42.0",
			"spec.grpcServerTlsConfig.cipherSuites"},
		{`grpcServerTlsConfig: {curves: [A, B]}`, "--grpc-server-tls-curves=B", "-0.41.0 0.42.0",
			"spec.grpcServerTlsConfig.curves"},
		{`{}`, "--http.config=/etc/thanos/web_config/web-config.yaml", "-0.20.2 0.21.0", ""},
		{`web: {httpConfig: {}}`, "--http.config=/etc/thanos/web_config/web-config.yaml", "-0.20.2 0.21.0", "spec.web.httpConfig"},
		{`resendDelay: 1m`, "--resend-delay=1m", "0.20.0 0.42.4", ""},
		{`logLevel: info`, "--log.level=info", "-0.42.4", ""},
		{`logFormat: logfmt`, "--log.format=logfmt", "0.42.4", ""},
	} {
		for version := range strings.FieldsSeq(tc.versions) {
			version, absent := strings.CutPrefix(version, "-")
			tr := ruler(t, tc.spec)
			tr.Spec.Version = version
			if args := rulerArgs(t, tr); slices.Contains(args, tc.arg) == absent {
				t.Errorf("%s at %s: %s: want absent=%t\n%s", tc.spec, version, tc.arg, absent, strings.Join(args, "\n"))
			}
			dropped := fmt.Sprint(newBuilder(tr, testConfig()).Dropped())
			if reported := tc.field != "" && strings.Contains(dropped, tc.field+" "); reported != (absent && tc.field != "") {
				t.Errorf("%s at %s: dropped %s", tc.spec, version, dropped)
			}
		}
	}
}

// All versions in the tables parse. Otherwise the table would panic only when the row is
// used.
func TestEveryRowParses(t *testing.T) {
	for _, row := range slices.Concat(args, lastArgs) {
		for _, v := range []string{row.In.Since, row.In.Until} {
			if _, err := semver.StrictNewVersion(v); v != "" && err != nil {
				t.Errorf("%s: %q: %v", row.Name, v, err)
			}
		}
		if row.Field != "" && row.In.Since == "" {
			t.Errorf("%s: %s can never be reported", row.Name, row.Field)
		}
		if (row.Value == nil) == (row.Each == nil) {
			t.Errorf("%s: not one of Value and Each", row.Name)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]string{
		"v0.29.0":      "v0.29.0",
		"0.29.0":       "0.29.0",
		"":             "v0.42.4",
		"  ":           "v0.42.4",
		"v0.42.0-rc.1": "v0.42.0-rc.1",
		"0.29.0-0123":  "error",
		"0.29.0.DEV":   "error",
		"latest":       "error",
	} {
		tr := ruler(t, ``)
		tr.Spec.Version = version
		o := newBuilder(tr, testConfig())
		sts, err := o.StatefulSet(testInputs())
		switch {
		case want == "error" && (err == nil || !strings.HasPrefix(err.Error(), "spec.version: ")):
			t.Errorf("%q: %v", version, err)
		case want == "error" && (o.Dropped() != nil || o.PrefixedName() != "thanos-ruler-main"):
			t.Errorf("%q: dropped %v, name %s", version, o.Dropped(), o.PrefixedName())
		case want != "error" && err != nil:
			t.Errorf("%q: %v", version, err)
		case want != "error":
			if got := sts.Spec.Template.Spec.Containers[0].Image; got != "quay.io/thanos/thanos:"+want {
				t.Errorf("%q: image %s", version, got)
			}
		}
	}
}

func TestGates(t *testing.T) {
	got := Gates()
	for _, want := range []workload.Gate{
		{Program: "thanos rule", Argument: "--rule-query-offset", Since: "0.38.0", Field: "spec.ruleQueryOffset"},
		{Program: "thanos rule", Argument: "--http.config", Since: "0.21.0"},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%+v is not listed in %v", want, got)
		}
	}
}
