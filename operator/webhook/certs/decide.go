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
	// authorityCert has the CAs to trust, the one in use first.
	authorityCert = "ca.crt"
	authorityKey  = "ca.key"
)

// plan is what the Secret should hold; changed says that it does not hold it yet.
type plan struct {
	data    map[string][]byte
	changed bool
}

// bundle is what API servers should trust.
func (p plan) bundle() []byte { return p.data[authorityCert] }

// decide returns what the Secret should hold, from what it holds. Keys that it does not
// know stay.
//
// data: nil for a Secret that does not exist; bundles: what API servers trust now, which has the
// CA of a Secret that was deleted; hosts: where API servers reach the webhooks, sorted.
func decide(data map[string][]byte, bundles [][]byte, hosts []string, now time.Time) (plan, error) {
	out := plan{data: map[string][]byte{}}
	for key, value := range data {
		out.data[key] = value
	}
	ca, older, ok := parse(data[authorityCert], data[authorityKey])
	if !ok && len(older) == 0 {
		older = issued(bundles)
	}
	if !ok || !ca.IsCA || due(ca.Certificate, now) {
		if ok {
			older = append([]*x509.Certificate{ca.Certificate}, older...)
		}
		next, err := newAuthority(now)
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
	if own, err = ca.serving(hosts, now); err != nil {
		return out, err
	}
	out.changed = true
	out.data[corev1.TLSCertKey], out.data[corev1.TLSPrivateKeyKey], err = own.encode()
	return out, err
}

// maxIssued is how many CAs are kept of a Secret that is lost. Pods serve with a certificate of
// the last one until the new one has reached them.
const maxIssued = 2

// issued are the CAs of ours in bundles, each once, those of the first bundle first.
func issued(bundles [][]byte) (out []*x509.Certificate) {
	for _, bundle := range bundles {
		all, err := cert.ParseCertsPEM(bundle)
		if err != nil {
			continue // of somebody else, or none
		}
		for _, c := range all {
			ours := c.IsCA && c.Subject.CommonName == authorityName && c.CheckSignatureFrom(c) == nil
			if ours && len(out) < maxIssued && !slices.ContainsFunc(out, c.Equal) {
				out = append(out, c)
			}
		}
	}
	return out
}

// hostsOf are the names and addresses in a certificate, sorted.
func hostsOf(c *x509.Certificate) []string {
	out := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		out = append(out, net.IP.String(ip))
	}
	slices.Sort(out)
	return out
}
