package commands

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/alecthomas/kingpin/v2"
)

// referenceFlags has every flag of the reference operator, with a non-default value.
var referenceFlags = strings.Fields(`
	--web.listen-address=127.0.0.1:0 --web.enable-http2 --web.enable-tls=false --web.cert-file=/a --web.key-file=/b
	--web.client-ca-file=/c --web.tls-reload-interval=2m0s --web.tls-min-version=VersionTLS12
	--web.tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 --web.tls-curves=X25519,CurveP256
	--apiserver=https://a --cert-file=/a --key-file=/b --ca-file=/c --tls-insecure --as=me
	--kubelet-service=kube-system/kubelet --kubelet-selector=a=b --kubelet-node-address-priority=external
	--kubelet-endpoints=false --kubelet-endpointslice=true --kubelet-sync-period=1m --kubelet-http-metrics=false
	--prometheus-config-reloader=a:v1 --config-reloader-cpu-request=1m --config-reloader-cpu-limit=0
	--config-reloader-memory-request=1Mi --config-reloader-memory-limit=0 --enable-config-reloader-probes=true
	--prometheus-default-base-image=a --alertmanager-default-base-image=b --thanos-default-base-image=c
	--annotations=a=b,c=d --labels=a=b --localhost=127.0.0.1 --cluster-domain=cluster.local
	--disable-unmanaged-prometheus-configuration=true --repair-policy-for-statefulsets=evict --controller-id=x
	--feature-gates=PrometheusTopologySharding=true
	--namespaces=a,b --namespaces=c --prometheus-instance-namespaces=a --alertmanager-instance-namespaces=a
	--alertmanager-config-namespaces=a --thanos-ruler-instance-namespaces=a --watch-referenced-objects-in-all-namespaces=true
	--prometheus-instance-selector=a=b --alertmanager-instance-selector=a=b --thanos-ruler-instance-selector=a=b
	--secret-field-selector=type!=x --secret-label-selector=a --configmap-field-selector=metadata.name!=x --configmap-label-selector=a
	--log-level=debug --log-format=json --auto-gomemlimit-ratio=0.7
`)

// The arguments of a Deployment of the reference are accepted, and all of them have an
// effect.
func TestReferenceFlags(t *testing.T) {
	var o Options
	app := kingpin.New("operator", "")
	o.Bind(app)
	args := arguments(app, append(referenceFlags, "--log-level=info"))
	if _, err := app.Parse(args[:len(args)-1]); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o.warnIdle(slog.New(slog.NewTextHandler(&log, nil)))
	if log.Len() > 0 {
		t.Errorf("without effect: %s", log.String())
	}
}

// Former flags are named in one log record.
func TestIdleFlags(t *testing.T) {
	var o Options
	app := kingpin.New("operator", "")
	o.Bind(app)
	if _, err := app.Parse([]string{"--with-validation", "--crd-kinds=a", "--crd-kinds=b", "--labels=a=b"}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o.warnIdle(slog.New(slog.NewTextHandler(&log, nil)))
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), `flags="--with-validation, --crd-kinds"`) {
		t.Error(log.String())
	}
}

// The reserved gate stays disabled, and enabling it causes a warning.
func TestReservedGate(t *testing.T) {
	for value, want := range map[string]string{"true": "gate=RemoteWriteCustomResourceDefinition", "false": ""} {
		o := parsed(t, "--feature-gates=RemoteWriteCustomResourceDefinition="+value)
		var log bytes.Buffer
		o.warnIdle(slog.New(slog.NewTextHandler(&log, nil)))
		if text := log.String(); !strings.Contains(text, want) || (want == "") != (text == "") || strings.Count(text, "no effect") != strings.Count(text, "\n") {
			t.Errorf("%s: %q", value, text)
		}
		if o.FeatureGates.On(gateRemoteWriteCRD) || !strings.Contains(o.FeatureGates.State(), "RemoteWriteCustomResourceDefinition=false") {
			t.Errorf("%s: the gate is open", value)
		}
	}
}

// The log explains each flag that has no effect.
func TestNamesOfIdleFlags(t *testing.T) {
	o := parsed(t, "--with-validation", "--crd-kinds=a", "--crd-apigroup=monitoring.coreos.com", "--logtostderr=true")
	var log bytes.Buffer
	o.warnIdle(slog.New(slog.NewTextHandler(&log, nil)))
	for _, f := range newIdle() {
		if !strings.Contains(log.String(), "--"+f.name+": "+f.about) {
			t.Errorf("nothing about --%s in %s", f.name, log.String())
		}
	}
}

func TestNoIdleFlags(t *testing.T) {
	var o Options
	app := kingpin.New("operator", "")
	o.Bind(app)
	if _, err := app.Parse([]string{"--labels=a=b"}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o.warnIdle(slog.New(slog.NewTextHandler(&log, nil)))
	if log.Len() > 0 {
		t.Error(log.String())
	}
}

// Every flag is below a heading of the help.
func TestUsageGroups(t *testing.T) {
	code, help, _ := invoke("start", "--help")
	if code != 0 {
		t.Fatal(code)
	}
	var o Options
	app := kingpin.New("operator", "")
	o.Bind(app)
	for _, f := range app.Model().Flags {
		if f.Hidden {
			continue
		}
		if n := strings.Count(help, "]"+f.Name+"\n") + strings.Count(help, "]"+f.Name+" ") + strings.Count(help, "--"+f.Name+"=") + strings.Count(help, "--"+f.Name+" "); n == 0 {
			t.Errorf("--%s is not in the help", f.Name)
		}
	}
	if _, generated, _ := strings.Cut(help, "\nGenerated object flags:"); !strings.Contains(generated, "--[no-]expand-volume-claims") {
		t.Errorf("--expand-volume-claims is not under its heading:\n%s", help)
	}
	for _, title := range []string{"\nFlags:", "\nWeb server flags:", "\nAPI server flags:", "\nScope flags:", "\nGenerated object flags:", "\nLeader election flags:", "\nKubelet Service flags:", "\nIgnored flags:"} {
		if strings.Count(help, title) != 1 {
			t.Errorf("heading %q in\n%s", title, help)
		}
	}
}
