package main

import (
	"bytes"
	"encoding/pem"
	"errors"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// caCertificates are the CA certificates that Mozilla trusts for servers, in PEM. They come from a module, not from
// this machine. CAs that are trusted only for some certificates are left out, because a file cannot express this.
func caCertificates() ([]byte, error) {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	if out.Len() == 0 {
		return nil, errors.New("no CA certificates")
	}
	return out.Bytes(), nil
}
