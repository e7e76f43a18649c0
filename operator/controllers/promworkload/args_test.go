package promworkload

import (
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

func server(t *testing.T, spec string) *v1.Prometheus {
	t.Helper()
	p := &v1.Prometheus{}
	p.Namespace, p.Name = "demo", "main"
	if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return p
}

func serverOwner(t *testing.T, spec string) *Builder {
	t.Helper()
	return ForServer(server(t, spec), testConfig())
}

// Each gated argument is present or absent in the versions next to its limits.
func TestArgumentGates(t *testing.T) {
	const size = `retentionSize: 1GB`
	for _, tc := range []struct {
		spec, arg string
		versions  string // "-" in front: must be absent
	}{
		{``, "--web.console.templates=/etc/prometheus/consoles", "2.55.1 -3.0.0-rc.0 -3.0.0"},
		{``, "--web.console.libraries=/etc/prometheus/console_libraries", "2.55.1 -3.0.0-rc.0 -3.0.0"},
		{`web: {pageTitle: A}`, "--web.page-title=A", "-2.5.0 2.6.0"},
		{`web: {maxConnections: 0}`, "--web.max-connections=0", "2.5.0 3.0.0"},
		{`enableRemoteWriteReceiver: true`, "--web.enable-remote-write-receiver", "-2.32.1 2.33.0"},
		{`{enableRemoteWriteReceiver: true, remoteWriteReceiverMessageVersions: [V2.0, V1.0]}`,
			"--web.remote-write-receiver.accepted-protobuf-messages=io.prometheus.write.v2.Request,prometheus.WriteRequest",
			"-2.53.2 2.54.0"},
		{`remoteWrite: [{url: "http://x", messageVersion: V2.0}]`, "--enable-feature=metadata-wal-records",
			"-2.53.2 -2.54.0-rc.0 2.54.0 3.3.1 3.4.0-rc.0 -3.4.0"},
		{`enableOTLPReceiver: true`, "--enable-feature=otlp-write-receiver", "-2.46.0 2.47.0 2.55.1 -3.0.0-rc.0"},
		{`enableOTLPReceiver: true`, "--web.enable-otlp-receiver", "-2.55.1 3.0.0-rc.0 3.0.0"},
		{`otlp: {}`, "--web.enable-otlp-receiver", "3.0.0"},
		{`{otlp: {}, enableOTLPReceiver: false}`, "--web.enable-otlp-receiver", "-3.0.0"},
		{`enableFeatures: [a, b]`, "--enable-feature=a,b", "-2.24.1 2.25.0 3.0.0"},
		{`tsdb: {chunkEncoding: {floats: Xor2}}`, "--enable-feature=xor2-encoding", "-3.12.0 3.13.0"},
		{`{tsdb: {chunkEncoding: {floats: Xor2}}, enableFeatures: [xor2-encoding, c]}`, "--enable-feature=xor2-encoding", "-3.13.0"},
		{`externalUrl: http://x/y`, "--web.external-url=http://x/y", "2.5.0 3.0.0"},
		{`logLevel: warn`, "--log.level=warn", "2.5.0 3.0.0"},
		{`logLevel: info`, "--log.level=info", "-2.5.0 -3.0.0"},
		{`logFormat: json`, "--log.format=json", "-2.5.0 2.6.0"},
		{`logFormat: logfmt`, "--log.format=logfmt", "-3.0.0"},
		{`reloadStrategy: HTTP`, "--web.enable-lifecycle", "2.5.0 3.0.0"},
		{`enableAdminAPI: true`, "--web.enable-admin-api", "2.5.0 3.0.0"},
		{`rules: {alert: {forOutageTolerance: 1h}}`, "--rules.alert.for-outage-tolerance=1h", "-2.3.2 2.4.0"},
		{`rules: {alert: {forGracePeriod: 2m}}`, "--rules.alert.for-grace-period=2m", "-2.3.2 2.4.0"},
		{`rules: {alert: {resendDelay: 3m}}`, "--rules.alert.resend-delay=3m", "-2.3.2 2.4.0"},
		{`query: {lookbackDelta: 4m}`, "--query.lookback-delta=4m", "2.0.0 3.0.0"},
		{`query: {maxSamples: 5}`, "--query.max-samples=5", "-2.4.3 2.5.0"},
		{`query: {maxSamples: 0}`, "--query.max-samples=0", "-2.5.0"},
		{`query: {maxConcurrency: 6}`, "--query.max-concurrency=6", "2.0.0"},
		{`query: {timeout: 7s}`, "--query.timeout=7s", "2.0.0"},
		{`allowOverlappingBlocks: true`, "--storage.tsdb.allow-overlapping-blocks", "-2.10.0 2.11.0 2.38.0 -2.39.0"},
		{`walCompression: true`, "--storage.tsdb.wal-compression", "-2.10.0 2.11.0 3.0.0"},
		{`walCompression: false`, "--no-storage.tsdb.wal-compression", "-2.10.0 2.11.0 3.0.0"},
		{``, "--web.config.file=/etc/prometheus/web_config/web-config.yaml", "-2.23.0 2.24.0"},
		{`disableCompaction: true`, "--storage.tsdb.max-block-duration=2h", "2.5.0 3.13.0"},
		{`{disableCompaction: true, tsdb: {outOfOrderTimeWindow: 1h}}`, "--no-storage.tsdb.allow-overlapping-compaction", "-2.54.1 2.55.0"},
		{`tsdb: {outOfOrderTimeWindow: 1h}`, "--no-storage.tsdb.allow-overlapping-compaction", "-2.55.0"},
		{`thanos: {objectStorageConfigFile: /f}`, "--storage.tsdb.min-block-duration=2h", "3.8.0 -3.9.0"},
		{`thanos: {objectStorageConfigFile: /f}`, "--storage.tsdb.delay-compact-file.path=/prometheus/thanos.shipper.json", "-3.8.0 3.9.0"},
		{`thanos: {objectStorageConfigFile: /f, version: 0.40.9}`, "--storage.tsdb.delay-compact-file.path=/prometheus/thanos.shipper.json", "-3.9.0"},
		{`thanos: {objectStorageConfigFile: /f, version: 0.41.0}`, "--storage.tsdb.delay-compact-file.path=/prometheus/thanos.shipper.json", "3.9.0"},

		{``, "--storage.tsdb.retention=24h", "2.6.1 -2.7.0"},
		{size, "--storage.tsdb.retention=24h", "2.6.1"},
		{`retention: 9d`, "--storage.tsdb.retention=9d", "2.6.1 -2.7.0"},
		{``, "--storage.tsdb.retention.time=24h", "-2.6.1 2.7.0 3.10.0 -3.11.0"},
		{`retention: 9d`, "--storage.tsdb.retention.time=9d", "-2.6.1 2.7.0 3.10.0 -3.11.0"},
		{size, "--storage.tsdb.retention.time=24h", "-2.7.0 -3.10.0"},
		{`{retention: 9d, retentionSize: 1GB}`, "--storage.tsdb.retention.time=9d", "2.7.0 3.10.0"},
		{size, "--storage.tsdb.retention.size=1GB", "-2.6.1 2.7.0 3.10.0 -3.11.0"},
	} {
		for version := range strings.FieldsSeq(tc.versions) {
			version, absent := strings.CutPrefix(version, "-")
			p := server(t, tc.spec)
			p.Spec.Version = version
			args := prometheusArgs(t, ForServer(p, testConfig()))
			if slices.Contains(args, tc.arg) == absent {
				t.Errorf("%s at %s: %s: want absent=%t\n%s", tc.spec, version, tc.arg, absent, strings.Join(args, "\n"))
			}
		}
	}
}

func prometheusArgs(t *testing.T, o *Builder) []string {
	t.Helper()
	sts, err := o.StatefulSet(testInputs())
	if err != nil {
		t.Fatal(err)
	}
	return find(t, sts.Spec.Template.Spec, "prometheus").Args
}

func TestThanosArgumentGates(t *testing.T) {
	for _, tc := range []struct{ thanos, arg, versions string }{
		{`getConfigTimeout: 1m`, "--prometheus.get_config_timeout=1m", "-0.28.1 0.29.0"},
		{`getConfigInterval: 1m`, "--prometheus.get_config_interval=1m", "-0.28.1 0.29.0"},
		{`grpcServerTlsConfig: {minVersion: TLS10}`, "--grpc-server-tls-min-version=1.0", "-0.36.1 0.37.0"},
		{`grpcServerTlsConfig: {cipherSuites: [A]}`, "--grpc-server-tls-ciphers=A", "-0.41.0 0.42.0"},
		{`grpcServerTlsConfig: {curves: [A]}`, "--grpc-server-tls-curves=A", "-0.41.0 0.42.0"},
		{``, "--prometheus.http-client-file=/etc/thanos/config/prometheus.http-client-file.yaml", "-0.23.1 0.24.0"},
		{`objectStorageConfigFile: /f`, "--shipper.ignore-unequal-block-size", "-0.40.1 0.41.0"},
		{`grpcListenLocal: true`, "--grpc-address=127.0.0.1:10901", "0.20.0"},
		{`grpcListenLocal: true`, "--http-address=127.0.0.1:10902", "-0.20.0"},
		{`httpListenLocal: true`, "--http-address=127.0.0.1:10902", "0.20.0"},
		{`{objectStorageConfigFile: /f, objectStorageConfig: {Name: bucket, key: k}}`, "--objstore.config=$(OBJSTORE_CONFIG)", "-0.42.0"},
	} {
		for version := range strings.FieldsSeq(tc.versions) {
			version, absent := strings.CutPrefix(version, "-")
			p := server(t, `thanos: {}`)
			if err := yaml.UnmarshalStrict([]byte(tc.thanos), p.Spec.Thanos); err != nil {
				t.Fatal(err)
			}
			p.Spec.Thanos.Version = version
			sts, err := ForServer(p, testConfig()).StatefulSet(testInputs())
			if err != nil {
				t.Fatal(err)
			}
			args := find(t, sts.Spec.Template.Spec, "thanos-sidecar").Args
			if slices.Contains(args, tc.arg) == absent {
				t.Errorf("%s at %s: %s: want absent=%t\n%s", tc.thanos, version, tc.arg, absent, strings.Join(args, "\n"))
			}
		}
	}
}

func TestAgentArguments(t *testing.T) {
	for version, want := range map[string]string{
		"2.55.1": "--enable-feature=agent --storage.agent.path=/prometheus --storage.agent.wal-compression",
		"3.0.0":  "--agent --storage.agent.path=/prometheus --storage.agent.wal-compression",
	} {
		a := &v1alpha1.PrometheusAgent{}
		a.Spec.Version = version
		a.Spec.WALCompression = new(true)
		args := strings.Join(prometheusArgs(t, ForAgent(a, testConfig())), " ")
		if !strings.Contains(args, want) {
			t.Errorf("%s: %s lacks %s", version, args, want)
		}
	}
}

// All versions in the tables parse. Otherwise the table would panic only when the row is
// used.
func TestEveryRowParses(t *testing.T) {
	for _, rows := range [][]workload.Row[*Builder]{commonArgs, serverArgs, agentArgs, thanosArgs} {
		for _, row := range rows {
			for _, v := range []string{row.In.Since, row.In.Until} {
				if _, err := semver.StrictNewVersion(v); v != "" && err != nil {
					t.Errorf("%s: %q: %v", row.Name, v, err)
				}
			}
			if row.Field != "" && row.In.Since == "" {
				t.Errorf("%s: %s can never be reported", row.Name, row.Field)
			}
		}
	}
}

// An unsupported field does not drop the fields after it.
func TestDroppedFieldLeavesTheOthers(t *testing.T) {
	o := serverOwner(t, `{version: 2.50.0, enableRemoteWriteReceiver: true, remoteWriteReceiverMessageVersions: [V2.0],
		remoteWrite: [{url: "http://x", messageVersion: V2.0}], enableFeatures: [a], logFormat: json}`)
	args := prometheusArgs(t, o)
	for _, want := range []string{"--enable-feature=a", "--log.format=json"} {
		if !slices.Contains(args, want) {
			t.Errorf("%s is missing in %q", want, args)
		}
	}
	dropped := o.Dropped()
	if len(dropped) != 1 || dropped[0].String() != "spec.remoteWriteReceiverMessageVersions needs >= 2.54.0" {
		t.Errorf("dropped %v", dropped)
	}
}

func TestDroppedStopsAtTheVersion(t *testing.T) {
	const spec = `web: {pageTitle: A}
enableOTLPReceiver: true
allowOverlappingBlocks: true
retentionSize: 1GB
version: `
	for version, want := range map[string]int{
		"2.5.0":  4,
		"2.46.0": 1, // OTLP
		"3.13.0": 0, // arguments that newer versions replace are not dropped
	} {
		if got := serverOwner(t, spec+version).Dropped(); len(got) != want {
			t.Errorf("%s: dropped %v, want %d", version, got, want)
		}
	}
	if got := serverOwner(t, `version: nonsense`).Dropped(); got != nil {
		t.Errorf("dropped %v without a version", got)
	}
}
