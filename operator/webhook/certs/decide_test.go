package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
)

var (
	begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	hosts = []string{"127.0.0.1", "webhook.demo.svc"}
)

func decided(t *testing.T, data map[string][]byte, hosts []string, now time.Time) plan {
	t.Helper()
	p, err := webhook.decide(data, nil, hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// serves reports whether a client that trusts the bundle accepts the certificate for every
// host.
func serves(t *testing.T, data map[string][]byte, bundle []byte, now time.Time) error {
	t.Helper()
	chain, err := tls.X509KeyPair(data["tls.crt"], data["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bundle)
	for _, host := range hosts {
		if _, err := chain.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: host, CurrentTime: now}); err != nil {
			return err
		}
	}
	return nil
}

func TestDecide(t *testing.T) {
	first := decided(t, nil, hosts, begin)
	if err := serves(t, first.data, first.bundle(), begin); err != nil || !first.changed {
		t.Fatal(err)
	}
	first.data["mine"] = []byte("stays")
	with := func(key, value string) map[string][]byte {
		out := maps.Clone(first.data)
		out[key] = []byte(value)
		return out
	}
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		data             map[string][]byte
		hosts            []string
		after            time.Duration
		certificate, own bool // whether the certificate and the CA are replaced
	}{
		"nothing to do":       {first.data, hosts, day, false, false},
		"before renewal":      {first.data, hosts, 59 * day, false, false},
		"renewal":             {first.data, hosts, 61 * day, true, false},
		"renewal of the CA":   {first.data, hosts, 1300 * day, true, true},
		"the CA has ended":    {first.data, hosts, 3000 * day, true, true},
		"a clock went back":   {first.data, hosts, -2 * day, true, true},
		"another host":        {first.data, []string{"other.demo.svc"}, day, true, false},
		"broken certificate":  {with("tls.crt", "x"), hosts, day, true, false},
		"broken key":          {with("tls.key", "x"), hosts, day, true, false},
		"broken CA":           {with("ca.crt", "x"), hosts, day, true, true},
		"broken key of CA":    {with("ca.key", "x"), hosts, day, true, true},
		"the key of another":  {with("ca.key", string(first.data["tls.key"])), hosts, day, true, true},
		"certificate as a CA": {with("ca.crt", string(first.data["tls.crt"])), hosts, day, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			now := begin.Add(tc.after)
			before := maps.Clone(tc.data)
			p := decided(t, tc.data, tc.hosts, now)
			if got := !bytes.Equal(p.data["tls.crt"], tc.data["tls.crt"]); got != tc.certificate || p.changed != tc.certificate {
				t.Errorf("another certificate: %t, changed: %t", got, p.changed)
			}
			if got := !bytes.Equal(p.data["ca.key"], tc.data["ca.key"]); got != tc.own {
				t.Errorf("another CA: %t", got)
			}
			if string(p.data["mine"]) != "stays" || !maps.EqualFunc(before, tc.data, bytes.Equal) {
				t.Error("more has changed")
			}
			if len(tc.hosts) == len(hosts) {
				if err := serves(t, p.data, p.bundle(), now); err != nil {
					t.Error(err)
				}
			}
			if again := decided(t, p.data, tc.hosts, now); again.changed {
				t.Error("it does not settle")
			}
		})
	}
}

// The old certificate, which pods serve for a while, is trusted until it expires.
func TestNoGap(t *testing.T) {
	data := decided(t, nil, hosts, begin).data
	for now := begin; now.Before(begin.AddDate(12, 0, 0)); now = now.AddDate(0, 0, 7) {
		next := decided(t, data, hosts, now)
		if err := serves(t, data, next.bundle(), now); err != nil {
			t.Fatalf("%s: the old certificate: %v", now, err)
		}
		if err := serves(t, next.data, next.bundle(), now); err != nil {
			t.Fatalf("%s: the new certificate: %v", now, err)
		}
		all, err := cert.ParseCertsPEM(next.bundle())
		if err != nil || len(all) > 2 {
			t.Fatalf("%s: %d CAs, %v", now, len(all), err)
		}
		data = next.data
	}
}

// The CA of a lost Secret stays in the bundles, which are its only copy, because pods serve
// with the old certificate until they have received the new one.
func TestALostSecret(t *testing.T) {
	first := decided(t, nil, hosts, begin)
	other, err := webhook.newAuthority(begin)
	if err != nil {
		t.Fatal(err)
	}
	other.Certificate.Subject.CommonName = "another CA"
	if other, err = sign(other.Certificate, other.key.(*ecdsa.PrivateKey), other); err != nil {
		t.Fatal(err)
	}
	foreign, err := cert.EncodeCertificates(other.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		data    map[string][]byte
		bundles [][]byte
		after   time.Duration
		kept    bool
	}{
		"deleted":             {nil, [][]byte{nil, first.bundle(), first.bundle()}, time.Hour, true},
		"emptied":             {map[string][]byte{}, [][]byte{first.bundle()}, time.Hour, true},
		"the CA is broken":    {map[string][]byte{"ca.crt": []byte("x"), "ca.key": []byte("x")}, [][]byte{first.bundle()}, time.Hour, true},
		"the CA has ended":    {nil, [][]byte{first.bundle()}, authorityLife + time.Hour, false},
		"bundles of others":   {nil, [][]byte{foreign, []byte("x")}, time.Hour, false},
		"nobody is asked yet": {nil, nil, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := begin.Add(tc.after)
			next, err := webhook.decide(tc.data, tc.bundles, hosts, now)
			if err != nil {
				t.Fatal(err)
			}
			if err := serves(t, next.data, next.bundle(), now); err != nil {
				t.Error(err)
			}
			if err := serves(t, first.data, next.bundle(), now); (err == nil) != tc.kept {
				t.Errorf("the old certificate: %v", err)
			}
		})
	}
	data, bundle := first.data, first.bundle()
	for range 10 { // the bundle does not grow
		next, err := webhook.decide(nil, [][]byte{bundle}, hosts, begin)
		if err != nil {
			t.Fatal(err)
		}
		if err := serves(t, data, next.bundle(), begin); err != nil {
			t.Error(err)
		}
		data, bundle = next.data, next.bundle()
	}
	if all, err := cert.ParseCertsPEM(bundle); err != nil || len(all) != maxIssued+1 {
		t.Errorf("%d CAs, %v", len(all), err)
	}
}
