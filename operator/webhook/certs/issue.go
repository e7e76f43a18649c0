package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	authorityLife = 5 * 365 * 24 * time.Hour
	servingLife   = 90 * 24 * time.Hour
	// skew is the tolerated clock skew of API servers.
	skew = time.Hour
)

// subject is the name of a server in its certificates.
type subject string

// webhook is the subject of the webhooks.
const webhook subject = "admission-webhook"

// authority is the name of the server's CA.
func (s subject) authority() string { return string(s) + "-ca" }

// pair is a certificate and its key.
type pair struct {
	*x509.Certificate
	key crypto.Signer
}

// newAuthority creates a self-signed CA.
func (s subject) newAuthority(now time.Time) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	own := &x509.Certificate{
		Subject:   pkix.Name{CommonName: s.authority()},
		NotBefore: now.Add(-skew), NotAfter: now.Add(authorityLife),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		IsCA:     true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	return sign(own, key, pair{own, key})
}

// serving issues a certificate for hosts, which are DNS names and IP addresses.
func (p pair) serving(of subject, hosts []string, now time.Time) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	own := &x509.Certificate{
		Subject:   pkix.Name{CommonName: string(of)},
		NotBefore: now.Add(-skew), NotAfter: now.Add(servingLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			own.IPAddresses = append(own.IPAddresses, ip)
		} else {
			own.DNSNames = append(own.DNSNames, host)
		}
	}
	return sign(own, key, p)
}

// sign completes a certificate and signs it.
func sign(own *x509.Certificate, key *ecdsa.PrivateKey, by pair) (pair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return pair{}, err
	}
	own.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, own, by.Certificate, key.Public(), by.key)
	if err != nil {
		return pair{}, err
	}
	parsed, err := x509.ParseCertificate(der)
	return pair{parsed, key}, err
}

// encode returns certificate and key as PEM.
func (p pair) encode() (certificate, key []byte, err error) {
	if key, err = keyutil.MarshalPrivateKeyToPEM(p.key); err != nil {
		return nil, nil, err
	}
	certificate, err = cert.EncodeCertificates(p.Certificate)
	return certificate, key, err
}

// parse reads the first certificate and its key. ok is false if they do not match.
func parse(certificates, key []byte) (p pair, rest []*x509.Certificate, ok bool) {
	all, err := cert.ParseCertsPEM(certificates)
	if err != nil {
		return p, nil, false
	}
	parsed, err := keyutil.ParsePrivateKeyPEM(key)
	signer, is := parsed.(crypto.Signer)
	if err != nil || !is {
		return p, all, false
	}
	public, is := all[0].PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	if !is || !public.Equal(signer.Public()) {
		return p, all, false
	}
	return pair{all[0], signer}, all[1:], true
}

// due reports whether a certificate must be renewed, which is after two thirds of its
// lifetime.
func due(c *x509.Certificate, now time.Time) bool {
	life := c.NotAfter.Sub(c.NotBefore)
	return now.After(c.NotBefore.Add(life*2/3)) || now.Before(c.NotBefore)
}
