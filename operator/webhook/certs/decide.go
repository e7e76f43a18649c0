package certs

import (
	"bytes"
	"crypto/x509"
	"net"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
)

// Keys of the Secret besides tls.crt and tls.key.
const (
	// authorityCert holds the trusted CAs, the active one first.
	authorityCert = "ca.crt"
	authorityKey  = "ca.key"
)

// plan is the desired content of the Secret. changed reports whether the Secret differs from it.
type plan struct {
	data    map[string][]byte
	changed bool
}

// bundle returns the CA bundle that API servers should trust.
func (p plan) bundle() []byte { return p.data[authorityCert] }

// decide computes the desired content of the Secret from its current content. Unknown keys are
// kept.
//
// data is nil if the Secret does not exist. bundles are the CA bundles that clients trust
// now; they still hold the CA of a deleted Secret. hosts are the sorted addresses at which clients
// reach the server.
func (s subject) decide(data map[string][]byte, bundles [][]byte, hosts []string, now time.Time) (plan, error) {
	out := plan{data: map[string][]byte{}}
	for key, value := range data {
		out.data[key] = value
	}
	ca, older, ok := parse(data[authorityCert], data[authorityKey])
	if !ok && len(older) == 0 {
		older = s.issued(bundles)
	}
	if !ok || !ca.IsCA || due(ca.Certificate, now) {
		if ok {
			older = append([]*x509.Certificate{ca.Certificate}, older...)
		}
		next, err := s.newAuthority(now)
		if err != nil {
			return out, err
		}
		ca, out.changed = next, true
	}
	trusted := []*x509.Certificate{ca.Certificate}
	for _, c := range older {
		if now.Before(c.NotAfter) {
			trusted = append(trusted, c)
		}
	}
	text, err := cert.EncodeCertificates(trusted...)
	if err != nil {
		return out, err
	}
	if !bytes.Equal(text, data[authorityCert]) {
		out.data[authorityCert], out.changed = text, true
	}
	if out.changed {
		if _, out.data[authorityKey], err = ca.encode(); err != nil {
			return out, err
		}
	}
	own, _, ok := parse(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if ok && !due(own.Certificate, now) && own.CheckSignatureFrom(ca.Certificate) == nil && slices.Equal(hostsOf(own.Certificate), hosts) {
		return out, nil
	}
	if own, err = ca.serving(s, hosts, now); err != nil {
		return out, err
	}
	out.changed = true
	out.data[corev1.TLSCertKey], out.data[corev1.TLSPrivateKeyKey], err = own.encode()
	return out, err
}

// maxIssued is the maximum number of CAs to keep from a lost Secret. Pods serve with a
// certificate of the last CA until they have received the new one.
const maxIssued = 2

// issued returns our own CAs in bundles without duplicates, those of the first bundle first.
func (s subject) issued(bundles [][]byte) (out []*x509.Certificate) {
	for _, bundle := range bundles {
		all, err := cert.ParseCertsPEM(bundle)
		if err != nil {
			continue // foreign or empty
		}
		for _, c := range all {
			ours := c.IsCA && c.Subject.CommonName == s.authority() && c.CheckSignatureFrom(c) == nil
			if ours && len(out) < maxIssued && !slices.ContainsFunc(out, c.Equal) {
				out = append(out, c)
			}
		}
	}
	return out
}

// hostsOf returns the names and addresses in a certificate, sorted.
func hostsOf(c *x509.Certificate) []string {
	out := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		out = append(out, net.IP.String(ip))
	}
	slices.Sort(out)
	return out
}
