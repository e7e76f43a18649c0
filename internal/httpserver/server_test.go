package httpserver_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves o on a free port until the test ends and checks that it shuts down cleanly.
func start(t *testing.T, o httpserver.Options) (addr string) {
	t.Helper()
	o.Address = "127.0.0.1:0"
	s, err := httpserver.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve = %v after the context ended", err)
		}
	})
	return s.Addr().String()
}

func get(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func client(t *testing.T, cfg *tls.Config) *http.Client {
	tr := &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func TestPlain(t *testing.T) {
	var logged bytes.Buffer
	addr := start(t, httpserver.Options{
		Handler: http.HandlerFunc(httpserver.Up),
		Logger:  slog.New(slog.NewTextHandler(&logged, nil)),
	})
	if code, body := get(t, client(t, nil), "http://"+addr+"/healthz"); code != 200 || body != `{"status":"up"}` {
		t.Errorf("answer %d %q", code, body)
	}
	if !strings.Contains(logged.String(), addr) {
		t.Errorf("log does not name the address: %s", logged.String())
	}
}

func TestMetricsAreThereFromTheStart(t *testing.T) {
	addr := start(t, httpserver.Options{Handler: httpserver.Metrics(prometheus.NewRegistry())})
	_, body := get(t, client(t, nil), "http://"+addr)
	for _, want := range []string{
		`promhttp_metric_handler_errors_total{cause="encoding"} 0`,
		`promhttp_metric_handler_errors_total{cause="gathering"} 0`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in\n%s", want, body)
		}
	}
}

// certificate writes the key pair of httptest and returns its paths and a pool that trusts it.
func certificate(t *testing.T) (cert, key string, pair tls.Certificate, pool *x509.CertPool) {
	t.Helper()
	ts := httptest.NewTLSServer(nil)
	defer ts.Close()
	pair = ts.TLS.Certificates[0]
	pkcs8, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})))
	pool = x509.NewCertPool()
	pool.AddCert(ts.Certificate())
	return cert, key, pair, pool
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTLS(t *testing.T) {
	cert, key, pair, pool := certificate(t)
	file := filepath.Join(t.TempDir(), "web.yaml")
	write(t, file, "tls_server_config: {cert_file: "+cert+", key_file: "+key+"}\n"+
		"http_server_config: {headers: {X-Frame-Options: deny}}\n")
	trusting := client(t, &tls.Config{RootCAs: pool, ServerName: "example.com"})
	for name, o := range map[string]httpserver.Options{
		"from the web config file": {WebConfigFile: file},
		"from a tls.Config":        {TLS: &tls.Config{Certificates: []tls.Certificate{pair}}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Handler = http.HandlerFunc(httpserver.Up)
			addr := start(t, o)
			if code, body := get(t, trusting, "https://"+addr); code != 200 || body != `{"status":"up"}` {
				t.Errorf("answer %d %q", code, body)
			}
		})
	}
}

func TestEmptyWebConfigMeansPlain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "web.yaml")
	write(t, file, "")
	addr := start(t, httpserver.Options{Handler: http.HandlerFunc(httpserver.Up), WebConfigFile: file})
	if code, _ := get(t, client(t, nil), "http://"+addr); code != 200 {
		t.Errorf("answer %d", code)
	}
}

func TestBadOptions(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	write(t, bad, "tls_server_config: {cert_file: nowhere.pem, key_file: nowhere.key}\n")
	busy := start(t, httpserver.Options{Handler: http.HandlerFunc(httpserver.Up)})
	for name, tc := range map[string]struct {
		o    httpserver.Options
		want string
	}{
		"missing file":      {httpserver.Options{WebConfigFile: filepath.Join(dir, "none.yaml")}, `none.yaml": open `},
		"bad certificate":   {httpserver.Options{WebConfigFile: bad}, "nowhere.pem"},
		"two sources":       {httpserver.Options{WebConfigFile: bad, TLS: &tls.Config{}}, "cannot be combined"},
		"port in use":       {httpserver.Options{Address: busy}, busy},
		"address malformed": {httpserver.Options{Address: "nothing"}, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := httpserver.Listen(tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Listen = %v, want it to say %q", err, tc.want)
			}
		})
	}
}

func TestWriteJSON(t *testing.T) {
	for want, v := range map[string]any{
		"503 {\"a\":1}\n":                      map[string]int{"a": 1},
		"500 json: unsupported type: func()\n": func() {},
	} {
		rec := httptest.NewRecorder()
		httpserver.WriteJSON(rec, 503, v)
		if got := rec.Result().Status[:3] + " " + rec.Body.String(); got != want {
			t.Errorf("WriteJSON = %q, want %q", got, want)
		}
	}
}

func TestLargeHeaders(t *testing.T) {
	addr := start(t, httpserver.Options{Handler: http.HandlerFunc(httpserver.Up)})
	for size, code := range map[int]int{32 << 10: 200, 128 << 10: 431} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.Repeat("x", size))
		res, err := client(t, nil).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != code {
			t.Errorf("a header of %d bytes: %s", size, res.Status)
		}
	}
}

// dial opens a connection that the server has accepted.
func dial(t *testing.T, addr, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return c
}

// A sidecar has no memory for hundreds of connections.
func TestConnectionsOfASidecar(t *testing.T) {
	addr := start(t, httpserver.Options{Sidecar: true, Handler: http.HandlerFunc(httpserver.Up)})
	first := dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for range 50 {
		dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	if _, err := io.Copy(io.Discard, first); err != nil { // until it is closed
		t.Error(err)
	}
}

// Clients that do not read metrics hold few of them in memory.
func TestSlowReadersOfMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	large := prometheus.GaugeOpts{Name: "large", Help: strings.Repeat("x", 16<<20)} // more than the buffers of a connection
	reg.MustRegister(prometheus.NewGauge(large))
	addr := start(t, httpserver.Options{Handler: httpserver.Metrics(reg)})
	const request = "GET /metrics HTTP/1.0\r\n\r\n"
	first := dial(t, addr, request)
	var last net.Conn
	for range 4 {
		last = dial(t, addr, request)
	}
	if n, _ := io.Copy(io.Discard, first); n >= int64(len(large.Help)) {
		t.Errorf("the first request got all of its %d bytes", n)
	}
	if n, err := io.Copy(io.Discard, last); n < int64(len(large.Help)) || err != nil {
		t.Errorf("the last request got %d bytes: %v", n, err)
	}
}
