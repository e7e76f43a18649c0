package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Fields: web.tlsConfig, web.httpConfig, web.pageTitle. With TLS on the port, probes pass and changes are loaded.
func TestWebTLS(t *testing.T) {
	long(t)
	s, _ := scenario(t, "tls", "replicas: 2", webPods...)
	s.keyPair(t, "web-tls")
	s.patch(t, "web", `{"spec":{"web":{"pageTitle":"e2e","httpConfig":{"headers":{"xFrameOptions":"Deny"}},
		"tlsConfig":{"keySecret":{"name":"web-tls","key":"tls.key"},"cert":{"secret":{"name":"web-tls","key":"tls.crt"}}}}}}`)
	until(t, "TLS on all pods", 2*patience, func(ctx context.Context) (bool, error) {
		pods, err := s.pods(ctx, "web")
		for _, p := range pods {
			if p.Spec.Containers[0].ReadinessProbe.HTTPGet.Scheme != corev1.URISchemeHTTPS {
				return false, err
			}
		}
		return len(pods) == 2, err
	})
	s.rolledOut(t, "web", webPods...)
	s.in(t, "patch", "prometheusrule", "app", "--type=json", "-p", `[{"op":"replace","path":"/spec/groups/0/rules/0/expr","value":"sum(up) + 2"}]`)
	s.in(t, "patch", "servicemonitor", "app", "--type=merge", "-p", `{"spec":{"targetLabels":["e2e_tls"]}}`)
	for _, pod := range webPods {
		until(t, "change over TLS in "+pod, patience, func(ctx context.Context) (bool, error) {
			return runs(ctx, s.server(pod, "https"), "sum(up) + 2", "e2e_tls")
		})
		if _, err := s.server(pod, "http").Config(t.Context()); err == nil {
			t.Errorf("%s answers without TLS", pod)
		}
	}
	s.says(t, "web", conditions, "Available=True Reconciled=True")
}

// keyPair creates a Secret with a self-signed certificate.
func (s space) keyPair(t *testing.T, name string) {
	t.Helper()
	cert, key := selfSigned(t, "localhost")
	dir := t.TempDir()
	for file, text := range map[string][]byte{"tls.crt": cert, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.in(t, "create", "secret", "tls", name, "--cert="+filepath.Join(dir, "tls.crt"), "--key="+filepath.Join(dir, "tls.key"))
}

// selfSigned returns a certificate for hosts that is its own CA, and its key, in PEM.
func selfSigned(t *testing.T, hosts ...string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e"}, DNSNames: hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
