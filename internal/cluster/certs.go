package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certAuthority signs the cluster's certificates. They are valid for a year, as with kubeadm.
type certAuthority struct {
	dir  string // for the files
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// leaf is a certificate to be signed: of a server with names and addresses, or of a client with a user and a
// group.
type leaf struct {
	file  string // <file>.crt and <file>.key
	user  string
	group string
	names []string
	ips   []net.IP
}

// newCertAuthority writes ca.crt. The private key of the CA is never written.
func newCertAuthority(dir string) (*certAuthority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make certificate folder: %w", err)
	}
	a := &certAuthority{dir: dir}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("make CA key: %w", err)
	}
	template := certTemplate(pkix.Name{CommonName: "firekeeper-local-ca"})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("make CA certificate: %w", err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("read CA certificate: %w", err)
	}
	return a, writePEM(filepath.Join(dir, "ca.crt"), "CERTIFICATE", der)
}

func certTemplate(subject pkix.Name) *x509.Certificate {
	serial := make([]byte, 16)
	_, _ = rand.Read(serial) // never fails
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial),
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
	}
}

// sign writes the private key and the certificate of a leaf.
func (a *certAuthority) sign(l leaf) error {
	key, err := writeKey(filepath.Join(a.dir, l.file+".key"))
	if err != nil {
		return err
	}
	subject := pkix.Name{CommonName: l.user}
	if l.group != "" {
		subject.Organization = []string{l.group}
	}
	template := certTemplate(subject)
	template.DNSNames, template.IPAddresses = l.names, l.ips
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return fmt.Errorf("sign %s: %w", l.file, err)
	}
	return writePEM(filepath.Join(a.dir, l.file+".crt"), "CERTIFICATE", der)
}

// writeKey creates a key and writes it in a form that kube-apiserver also reads for service account tokens.
func writeKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return key, writePEM(file, "EC PRIVATE KEY", der)
}

func writePEM(file, kind string, der []byte) error {
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("write certificate: %w", err)
	}
	return nil
}

// newToken returns a random bearer token.
func newToken() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
