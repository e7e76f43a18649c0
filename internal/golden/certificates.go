package golden

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"time"
)

// Certificates returns PEM texts by placeholder, generated once per run: "@CERT@", its key "@KEY@", and "@OTHER@", a
// key that does not match the certificate.
var Certificates = sync.OnceValue(func() map[string][]byte {
	key, cert := certificate()
	other, _ := certificate()
	return map[string][]byte{"@CERT@": cert, "@KEY@": key, "@OTHER@": other}
})

func certificate() (key, cert []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		panic(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// WithCertificates replaces the placeholders of [Certificates] in a golden file. They must be in block scalars that are
// indented by four spaces.
func WithCertificates(text []byte) []byte {
	for name, value := range Certificates() {
		indented := bytes.ReplaceAll(bytes.TrimSpace(value), []byte("\n"), []byte("\n    "))
		text = bytes.ReplaceAll(text, []byte(name), indented)
	}
	return text
}
