package promconfig

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

// placeholders are PEM texts made once per run: a certificate, its key, and a
// key that belongs to nothing.
var placeholders = sync.OnceValue(func() map[string][]byte {
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

// withCertificates replaces the placeholders, which stand in block scalars
// indented by four.
func withCertificates(text []byte) []byte {
	for name, value := range placeholders() {
		indented := bytes.ReplaceAll(bytes.TrimSpace(value), []byte("\n"), []byte("\n    "))
		text = bytes.ReplaceAll(text, []byte(name), indented)
	}
	return text
}
