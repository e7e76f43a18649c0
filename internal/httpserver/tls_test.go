package httpserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
)

// issue writes a self-signed certificate and its key, and returns both.
func issue(t *testing.T, dir, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	for file, text := range map[string][]byte{"tls.crt": certPEM, "tls.key": keyPEM} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// served starts a server with the flags. It returns a function that connects to it and
// returns the name in the server certificate and the protocol.
func served(t *testing.T, w *httpserver.TLS) func(client *tls.Certificate) (name, protocol string, err error) {
	t.Helper()
	conf, err := w.Config(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	addr := start(t, httpserver.Options{TLS: conf, Handler: http.NotFoundHandler()})
	return func(client *tls.Certificate) (string, string, error) {
		transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		defer transport.CloseIdleConnections()
		if client != nil {
			transport.TLSClientConfig.Certificates = []tls.Certificate{*client}
		}
		resp, err := (&http.Client{Transport: transport}).Get("https://" + addr)
		if err != nil {
			return "", "", err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return "", "", err
		}
		return resp.TLS.PeerCertificates[0].Subject.CommonName, resp.Proto, nil
	}
}

func TestRenewedCertificates(t *testing.T) {
	dir := t.TempDir()
	issue(t, dir, "first")
	w := &httpserver.TLS{Enable: true, CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"), ClientCAs: filepath.Join(dir, "none"), MinVersion: "VersionTLS13"}
	get := served(t, w)
	expect := func(name, protocol string) {
		t.Helper()
		if n, p, err := get(nil); n != name || p != protocol || err != nil {
			t.Errorf("got %q over %s, %v; want %q over %s", n, p, err, name, protocol)
		}
	}
	expect("first", "HTTP/1.1")
	issue(t, dir, "second") // the reload interval is 0
	expect("second", "HTTP/1.1")
	if err := os.WriteFile(w.KeyFile, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("second", "HTTP/1.1")
	issue(t, dir, "third")
	expect("third", "HTTP/1.1")
}

func TestHTTP2AndClientCertificates(t *testing.T) {
	dir, clients := t.TempDir(), t.TempDir()
	issue(t, dir, "server")
	client := issue(t, clients, "client")
	stranger := issue(t, t.TempDir(), "stranger")
	get := served(t, &httpserver.TLS{
		Enable: true, HTTP2: true, CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"),
		ClientCAs: filepath.Join(clients, "tls.crt"), ReloadInterval: time.Minute,
	})
	if name, protocol, err := get(&client); name != "server" || protocol != "HTTP/2.0" || err != nil {
		t.Errorf("got %q over %s, %v", name, protocol, err)
	}
	if _, _, err := get(&stranger); err == nil {
		t.Error("a client with another CA gets an answer")
	}
	if _, _, err := get(nil); err == nil {
		t.Error("a client without a certificate gets an answer")
	}
}

func TestTLSOff(t *testing.T) {
	for _, w := range []*httpserver.TLS{{CertFile: "/no/file"}, {Enable: true}} {
		if conf, err := w.Config(slog.New(slog.DiscardHandler)); conf != nil || err != nil {
			t.Errorf("%+v: %v, %v", w, conf, err)
		}
	}
}

// Suites, curves and versions are configured by their Go names.
func TestTLSNames(t *testing.T) {
	dir := t.TempDir()
	issue(t, dir, "server")
	w := httpserver.TLS{
		Enable: true, CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"),
		Curves: []string{"X25519", "CurveP521"}, CipherSuites: []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", ""},
	}
	conf, err := w.Config(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if want := []tls.CurveID{tls.X25519, tls.CurveP521}; !slices.Equal(conf.CurvePreferences, want) {
		t.Errorf("curves %v, want %v", conf.CurvePreferences, want)
	}
	if want := []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}; !slices.Equal(conf.CipherSuites, want) || conf.MinVersion != tls.VersionTLS12 {
		t.Errorf("suites %v from version %x", conf.CipherSuites, conf.MinVersion)
	}
}

// clientOf is a client with a certificate, and sessions that it can resume.
type clientOf struct {
	cert     tls.Certificate
	version  uint16
	sessions tls.ClientSessionCache
}

func (c clientOf) get(addr string) (resumed bool, err error) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, Certificates: []tls.Certificate{c.cert}, ClientSessionCache: c.sessions, MaxVersion: c.version,
	}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("https://" + addr)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.TLS.DidResume, err
}

// A session with a client certificate is not resumed after its CA was replaced. A file that ends within a certificate, as
// while it is being written, changes nothing.
func TestClientCAIsReplaced(t *testing.T) {
	for version, number := range map[string]uint16{"VersionTLS12": tls.VersionTLS12, "VersionTLS13": tls.VersionTLS13} {
		t.Run(version, func(t *testing.T) {
			dir, folders := t.TempDir(), map[string]string{"a": t.TempDir(), "b": t.TempDir()}
			issue(t, dir, "server")
			ca, texts, clients := filepath.Join(dir, "ca.crt"), map[string][]byte{}, map[string]clientOf{}
			for name, folder := range folders {
				clients[name] = clientOf{issue(t, folder, name), number, tls.NewLRUClientSessionCache(8)}
				texts[name], _ = os.ReadFile(filepath.Join(folder, "tls.crt"))
			}
			write := func(file string, text []byte) {
				t.Helper()
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(ca, texts["a"])
			w := &httpserver.TLS{Enable: true, CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"), ClientCAs: ca, MinVersion: version}
			conf, err := w.Config(slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			addr := start(t, httpserver.Options{TLS: conf, Handler: http.NotFoundHandler()})
			expect := func(when string, served map[string]bool) {
				t.Helper()
				for name, want := range served {
					if resumed, err := clients[name].get(addr); (err == nil) != want {
						t.Errorf("%s: client %s: %v, resumed: %t", when, name, err, resumed)
					}
				}
			}
			expect("at first", map[string]bool{"a": true, "b": false})
			if resumed, err := clients["a"].get(addr); !resumed || err != nil {
				t.Errorf("resumed: %t, %v", resumed, err)
			}
			write(ca, texts["b"])
			expect("replaced", map[string]bool{"a": false, "b": true})
			write(ca, append(slices.Clone(texts["a"]), texts["b"][:len(texts["b"])/2]...))
			expect("half of two", map[string]bool{"a": false, "b": true})
			whole := append(slices.Clone(texts["a"]), texts["b"]...)
			write(ca, whole[:len(whole)-len("IFICATE-----\n")])
			expect("two without the end of the last line", map[string]bool{"a": false, "b": true})
			server, _ := os.ReadFile(w.CertFile)
			write(ca, append(slices.Clone(texts["a"]), texts["b"]...))
			write(w.CertFile, append(slices.Clone(server), texts["a"][:len(texts["a"])/2]...))
			expect("half of a chain", map[string]bool{"a": false, "b": true})
			write(w.CertFile, server)
			expect("both", map[string]bool{"a": true, "b": true})
		})
	}
}
