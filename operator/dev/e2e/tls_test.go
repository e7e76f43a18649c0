package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Fields: web.tlsConfig, web.httpConfig, web.pageTitle. With TLS on the port, probes pass and changes are loaded, also if the
// certificate has expired.
func TestWebTLS(t *testing.T) {
	long(t)
	s, _ := scenario(t, "tls", "replicas: 2", webPods...)
	s.patch(t, "web", `{"spec":{"web":{"pageTitle":"e2e","httpConfig":{"headers":{"xFrameOptions":"Deny"}}}}}`)
	s.keyPair(t, "web-tls")
	s.keyPairUntil(t, "web-tls-expired", time.Now().Add(-time.Minute))
	for i, secret := range []string{"web-tls", "web-tls-expired"} {
		s.patch(t, "web", `{"spec":{"web":{"tlsConfig":{"keySecret":{"name":"`+secret+`","key":"tls.key"},"cert":{"secret":{"name":"`+secret+`","key":"tls.crt"}}}}}}`)
		s.servesTLS(t, secret)
		label := fmt.Sprintf("e2e_tls_%d", i)
		expr := fmt.Sprintf("sum(up) + %d", 2+i)
		s.in(t, "patch", "prometheusrule", "app", "--type=json", "-p", `[{"op":"replace","path":"/spec/groups/0/rules/0/expr","value":"`+expr+`"}]`)
		s.in(t, "patch", "servicemonitor", "app", "--type=merge", "-p", `{"spec":{"targetLabels":["`+label+`"]}}`)
		for _, pod := range webPods {
			until(t, "change over TLS in "+pod, patience, func(ctx context.Context) (bool, error) {
				return runs(ctx, s.server(pod, "https"), expr, label)
			})
			if _, err := s.server(pod, "http").Config(t.Context()); err == nil {
				t.Errorf("%s answers without TLS", pod)
			}
		}
		s.says(t, "web", conditions, "Available=True Reconciled=True")
	}
}

// servesTLS waits until all pods serve with a certificate.
func (s space) servesTLS(t *testing.T, secret string) {
	t.Helper()
	until(t, "TLS on all pods", 2*patience, func(ctx context.Context) (bool, error) {
		pods, err := s.pods(ctx, "web")
		for _, p := range pods {
			mounted := slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == secret })
			if !mounted || p.Spec.Containers[0].ReadinessProbe.HTTPGet.Scheme != corev1.URISchemeHTTPS {
				return false, err
			}
		}
		return len(pods) == 2, err
	})
	s.rolledOut(t, "web", webPods...)
}

// keyPair creates a Secret with a self-signed certificate.
func (s space) keyPair(t *testing.T, name string) {
	t.Helper()
	s.keyPairUntil(t, name, time.Now().Add(24*time.Hour))
}

// keyPairUntil creates a Secret with a self-signed certificate that expires at a time.
func (s space) keyPairUntil(t *testing.T, name string, expires time.Time) {
	t.Helper()
	cert, key := selfSigned(t, expires, "localhost")
	dir := t.TempDir()
	for file, text := range map[string][]byte{"tls.crt": cert, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.in(t, "create", "secret", "tls", name, "--cert="+filepath.Join(dir, "tls.crt"), "--key="+filepath.Join(dir, "tls.key"))
}

// selfSigned returns a certificate for hosts that is its own CA, and its key, in PEM.
func selfSigned(t *testing.T, expires time.Time, hosts ...string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e"}, DNSNames: hosts,
		NotBefore: expires.Add(-48 * time.Hour), NotAfter: expires,
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
