package commands

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// pair writes a certificate for 127.0.0.1 and its key, and returns the flags for them and
// a client that trusts the certificate.
func pair(t *testing.T) (flags []string, client *http.Client) {
	t.Helper()
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{"tls.crt": certPEM, "tls.key": keyPEM} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	return []string{"--web.cert-file=" + filepath.Join(dir, "tls.crt"), "--web.key-file=" + filepath.Join(dir, "tls.key"), "--web.client-ca-file="}, &http.Client{Transport: transport}
}

var webhookListens = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+) tls=true`)

// By default the command serves HTTPS, and continues to serve for the shutdown delay.
func TestWebhookCommand(t *testing.T) {
	flags, client := pair(t)
	ctx, cancel := context.WithCancel(t.Context())
	var log logtest.Log
	ended := make(chan int, 1)
	go func() {
		ended <- Operator(ctx, append([]string{"admission-webhook", "--web.listen-address=127.0.0.1:0", "--shutdown-delay=1s", "--promql-options= experimental-functions,, binop-fill-modifiers"}, flags...), &log, &log)
	}()
	url := ""
	for end := time.Now().Add(time.Minute); url == ""; time.Sleep(10 * time.Millisecond) {
		if m := webhookListens.FindStringSubmatch(log.String()); m != nil {
			url = "https://" + m[1]
		}
		if time.Now().After(end) {
			t.Fatalf("it does not listen:\n%s", &log)
		}
	}
	get := func(path, body string) (string, error) {
		resp, err := client.Post(url+path, "application/json", strings.NewReader(body))
		if body == "" {
			resp, err = client.Get(url + path)
		}
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return fmt.Sprintf("%d %s", resp.StatusCode, text), err
	}
	for path, want := range map[string][2]string{
		"/healthz": {"", `200 {"status":"up"}`},
		"/metrics": {"", "prometheus_operator_admission_webhook_build_info{"},
		"/admission-prometheusrules/validate": {
			`{"request":{"uid":"1","resource":{"group":"monitoring.coreos.com","version":"v1","resource":"prometheusrules"},` +
				`"object":{"spec":{"groups":[{"name":"g","rules":[{"record":"a","expr":"limitk(1, up)"}]}]}}}}`, `"allowed":true`},
	} {
		if got, err := get(path, want[0]); err != nil || !strings.Contains(got, want[1]) {
			t.Errorf("%s: %s %v", path, got, err)
		}
	}
	cancel()
	if got, err := get("/healthz", ""); err != nil {
		t.Errorf("right after the end: %s %v", got, err)
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d:\n%s", code, &log)
	}
}

func TestWebhookFlags(t *testing.T) {
	for line, tc := range map[string]struct {
		code int
		want string
	}{
		"--name-validation-scheme=any":                            {2, "--name-validation-scheme=any"},
		"--promql-options=tea":                                    {2, `--promql-options: "tea" is not one of experimental-functions, `},
		"--shutdown-delay=-1s":                                    {2, "--shutdown-delay=-1s: must not be negative"},
		"--web.cert-file=/nowhere":                                {1, "--web.cert-file, --web.key-file: open /nowhere"},
		"--web.enable-tls=false --web.listen-address=127.0.0.1:0": {0, ""},
		"--name-validation-scheme=utf8 --web.listen-address=127.0.0.1:0 --no-web.enable-tls": {0, ""},
	} {
		code, _, stderr := invoke(append([]string{"admission-webhook"}, strings.Fields(line)...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: %d %s", line, code, stderr)
		}
	}
}

// The command has a different default address.
func TestWebhookAddress(t *testing.T) {
	var o Options
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	w := webhookOptions{names: legacyNames}
	o.Log.Level, o.Log.Format = "info", "logfmt"
	o.Web.CertFile, o.Web.KeyFile = "/nowhere", "/nowhere"
	if err := w.run(ctx, &o, &out); !errors.Is(err, os.ErrNotExist) || o.ListenAddress != ":8443" || !o.Web.Enable {
		t.Errorf("%v %s %t", err, o.ListenAddress, o.Web.Enable)
	}
}

// The webhook allows everything that a feature gate of the operator can enable, and
// creates new kinds for every request.
func TestObjectKinds(t *testing.T) {
	kinds, err := objectKinds()
	if err != nil {
		t.Fatal(err)
	}
	a, b := kinds(), kinds()
	if len(a) != len(managed) || a[0] == b[0] {
		t.Errorf("%d kinds, want %d new ones", len(a), len(managed))
	}
	for _, kind := range a {
		if kind.Row == catalog.PrometheusAgent && kind.DaemonSets == "" {
			t.Error("agents cannot run as a DaemonSet")
		}
	}
}
