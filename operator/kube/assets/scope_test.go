package assets

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/config"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// hidden is a value that must not appear in any error.
const hidden = "correct horse battery staple"

func secretKey(name, key string, optional ...bool) corev1.SecretKeySelector {
	s := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
	if len(optional) > 0 {
		s.Optional = &optional[0]
	}
	return s
}

func configKey(name, key string) corev1.ConfigMapKeySelector {
	return corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
}

func meta(ns, name, version string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: ns, Name: name, ResourceVersion: version}
}

// manifests returns a Secret and a ConfigMap "web" in "team" and a Secret in another namespace.
func manifests() *Static {
	var s Static
	s.AddSecret(&corev1.Secret{
		ObjectMeta: meta("team", "web", "7"), Data: map[string][]byte{"password": []byte("overlaid"), "empty": {}},
		StringData: map[string]string{"password": hidden},
	})
	s.AddConfigMap(&corev1.ConfigMap{
		ObjectMeta: meta("team", "web", ""), Data: map[string]string{"ca": "text"}, BinaryData: map[string][]byte{"binary": {1}},
	})
	s.AddSecret(&corev1.Secret{ObjectMeta: meta("other", "theirs", "1"), Data: map[string][]byte{"password": []byte(hidden)}})
	return &s
}

// down is a Reader of a cluster that does not respond.
type down struct{}

func (down) Object(Ref) (Object, error) { return Object{}, errors.New("connection refused") }

const subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"

func TestScopeValues(t *testing.T) {
	for name, tc := range map[string]struct {
		reader             Reader
		get                func(*Scope) (string, error)
		want, err          string
		notFound, unstable bool
	}{
		"a value of a Secret":                {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey("web", "password")) }, hidden, "", false, false},
		"an empty value is a value":          {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey("web", "empty")) }, "", "", false, false},
		"a value of a ConfigMap":             {manifests(), func(s *Scope) (string, error) { return s.ConfigMapKey(configKey("web", "ca")) }, "text", "", false, false},
		"binary data of a ConfigMap":         {manifests(), func(s *Scope) (string, error) { return s.ConfigMapKey(configKey("web", "binary")) }, "", `key: ConfigMap "team/web" has no key "binary"`, true, false},
		"no such key":                        {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey("web", "passwort")) }, "", `key: Secret "team/web" has no key "passwort"`, true, false},
		"no such Secret":                     {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey("gone", "password")) }, "", `name: Secret "team/gone" does not exist`, true, false},
		"a Secret of another namespace":      {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey("theirs", "password")) }, "", `name: Secret "team/theirs" does not exist`, true, false},
		"a path to another namespace":        {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey("../other/theirs", "password")) }, "", `name: "../other/theirs" is not a valid name of a Secret: ` + subdomain, false, false},
		"a key that no Secret can have":      {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey("web", "..")) }, "", `key: ".." is not a valid key of Secret "web": must not be '..'`, false, false},
		"a very long name":                   {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey(strings.Repeat("é", 500), "x")) }, "", `name: "` + strings.Repeat("é", 38) + ` …" is not a valid name of a Secret: must be no more than 253 characters`, false, false},
		"a ConfigMap's name in a Secret":     {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey("web", "ca")) }, "", `key: Secret "team/web" has no key "ca"`, true, false},
		"no name":                            {manifests(), func(s *Scope) (string, error) { return s.SecretKey(secretKey("", "password")) }, "", "name: name of the Secret is empty", false, false},
		"no key":                             {manifests(), func(s *Scope) (string, error) { return s.ConfigMapKey(configKey("web", "")) }, "", `key: key of ConfigMap "web" is empty`, false, false},
		"the cluster is down":                {down{}, func(s *Scope) (string, error) { return s.SecretKey(secretKey("web", "password")) }, "", `read Secret "team/web": connection refused`, false, true},
		"optional and there":                 {manifests(), optional("web", "password", true), "true " + hidden, "", false, false},
		"optional and the key is missing":    {manifests(), optional("web", "x", true), "false ", "", false, false},
		"optional and the object is missing": {manifests(), optional("gone", "x", true), "false ", "", false, false},
		"not optional and missing":           {manifests(), optional("gone", "x", false), "false ", `name: Secret "team/gone" does not exist`, true, false},
		"optional and the cluster is down":   {down{}, optional("web", "x", true), "false ", `read Secret "team/web": connection refused`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewScope("team", tc.reader)
			got, err := tc.get(s)
			if got != tc.want || (tc.err == "") != (err == nil) || err != nil && err.Error() != tc.err {
				t.Errorf("got %q, %v; want %q, %q", got, err, tc.want, tc.err)
			}
			if IsNotFound(err) != tc.notFound || IsTemporary(err) != tc.unstable || (s.Temporary() != nil) != tc.unstable {
				t.Errorf("not found %v, temporary %v, %v", IsNotFound(err), IsTemporary(err), s.Temporary())
			}
			if err != nil && strings.Contains(err.Error(), hidden) {
				t.Error("the error holds a secret value")
			}
			if wrapped := fmt.Errorf("spec.basicAuth: %w", err); err != nil && (IsNotFound(wrapped) != tc.notFound || IsTemporary(wrapped) != tc.unstable) {
				t.Error("the kind of error is lost when it is wrapped")
			}
		})
	}
}

func optional(name, key string, may bool) func(*Scope) (string, error) {
	return func(s *Scope) (string, error) {
		v, ok, err := s.OptionalSecretKey(secretKey(name, key, may))
		return fmt.Sprintf("%v %s", ok, v), err
	}
}

// Every requested object is recorded, including missing and unreadable ones, so that a
// change of it triggers a new compilation.
func TestScopeRecordsDependencies(t *testing.T) {
	s := NewScope("team", manifests())
	for _, name := range []string{"web", "gone", "web"} {
		_, _ = s.SecretKey(secretKey(name, "password"))
	}
	_, _ = s.ConfigMapKey(configKey("also-gone", "x"))
	_, _ = s.ConfigMapKey(configKey("web", "no-such-key"))
	_, _ = s.SecretKey(secretKey("", "never asked"))
	deps := s.Dependencies()
	if len(deps) != 4 {
		t.Fatal(deps)
	}
	content := deps[3].Version
	want := []Dependency{
		{Ref{Secret, "team", "gone"}, ""}, {Ref{Secret, "team", "web"}, "7"},
		{Ref{ConfigMap, "team", "also-gone"}, ""}, {Ref{ConfigMap, "team", "web"}, content},
	}
	if diff := cmp.Diff(want, deps); diff != "" || content == "" {
		t.Error(diff, content)
	}
	failed := NewScope("team", down{})
	_, _ = failed.SecretKey(secretKey("web", "password"))
	if deps := failed.Dependencies(); len(deps) != 1 || deps[0].Version != "" {
		t.Error(deps)
	}
}

func TestStaticVersionsFollowTheContent(t *testing.T) {
	version := func(data map[string]string) string {
		var s Static
		s.AddConfigMap(&corev1.ConfigMap{ObjectMeta: meta("a", "b", ""), Data: data})
		o, err := s.Object(Ref{ConfigMap, "a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		return o.Version
	}
	seen := map[string]map[string]string{}
	for _, data := range []map[string]string{{}, {"a": ""}, {"a": "b"}, {"ab": ""}, {"a": "", "b": ""}, {"a": "b", "c": "d"}, {"a": "d", "c": "b"}} {
		v := version(data)
		if other, twice := seen[v]; twice {
			t.Errorf("%v and %v have one version", data, other)
		}
		if v != version(data) {
			t.Errorf("%v has two versions", data)
		}
		seen[v] = data
	}
}

func TestFiles(t *testing.T) {
	s := NewScope("team", manifests())
	if s.Files() != nil {
		t.Error("files without any")
	}
	long := strings.Repeat("k", 253-len("0_team_web_"))
	for file, err := range map[string]error{
		"a key":               s.AddFile(Secret, "web", "tls.key", hidden),
		"nothing":             s.AddFile(ConfigMap, "web", "ca", ""),
		"as long as possible": NewScope("team", manifests()).AddFile(Secret, "web", long, hidden),
	} {
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if err := NewScope("team", manifests()).AddFile(Secret, "web", "ca", strings.Repeat("x", budget.TLSFileBytes)); err != nil {
		t.Errorf("the largest file: %v", err)
	}
	if err := s.AddFile(Secret, "web", "ca", strings.Repeat("x", budget.TLSFileBytes+1)); err == nil || err.Error() != `key "ca" of Secret "web" has 257 KiB, a TLS file may have 256 KiB` {
		t.Errorf("a file too large: %v", err)
	}
	if err := s.AddFile(Secret, "web", long+"k", hidden); err == nil || err.Error() != "namespace, name and key of the Secret make a file name of 254 bytes, a Secret allows 253" {
		t.Error(err)
	}
	want := map[string][]byte{"0_team_web_tls.key": []byte(hidden)}
	if diff := cmp.Diff(want, s.Files()); diff != "" {
		t.Error(diff)
	}
	s.Files()["x"] = nil
	if len(s.Files()) != 1 {
		t.Error("callers can change the files")
	}
}

// Programs skip certificates in PEM blocks of another type or with headers. A CA file with no others makes
// Alertmanager refuse the configuration of all tenants.
func TestCertificatesThatServersSkip(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, headers map[string]string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Headers: headers, Bytes: der}))
	}
	good := block("CERTIFICATE", nil)
	for name, tc := range map[string]struct {
		text string
		ok   bool
	}{
		"usual":                         {good, true},
		"another type":                  {block("X509 CERTIFICATE", nil), false},
		"headers":                       {block("CERTIFICATE", map[string]string{"a": "b"}), false},
		"another type beside the usual": {block("X509 CERTIFICATE", nil) + good, true},
	} {
		err := CheckCertificate(tc.text)
		_, refused := config.NewTLSConfig(&config.TLSConfig{CA: tc.text})
		if (err == nil) != tc.ok || (refused == nil) != tc.ok {
			t.Errorf("%s: %v; servers say %v", name, err, refused)
		}
	}
}

func TestCertificates(t *testing.T) {
	const notACertificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	for name, text := range map[string]string{"no PEM": hidden, "no certificate": notACertificate, "empty": ""} {
		if err := CheckCertificate(text); err == nil || strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckKeyPair(notACertificate, hidden); err == nil || strings.Contains(err.Error(), hidden) {
		t.Errorf("pair: %v", err)
	}
	const notAKey = "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"
	for want, err := range map[string]error{
		"a private key, not a certificate":                CheckCertificate(notAKey),
		"it is base64 of one":                             CheckCertificate(base64.StdEncoding.EncodeToString([]byte(notACertificate)) + "\n"),
		"they are swapped":                                CheckKeyPair(notAKey, notACertificate),
		"form a pair: the certificate is not a PEM block": CheckKeyPair(hidden, notAKey),
		"form a pair: the key is not a PEM block":         CheckKeyPair(notACertificate, hidden),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestRefsInOrder(t *testing.T) {
	refs := []Ref{{Secret, "a", "z"}, {Secret, "b", "a"}, {ConfigMap, "a", "a"}, {ConfigMap, "a", "b"}}
	for i, a := range refs {
		for j, b := range refs {
			if got := a.Compare(b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%v compared with %v: %d", a, b, got)
			}
		}
	}
	if got := refs[2].String(); got != `ConfigMap "a/a"` {
		t.Error(got)
	}
}

// changing is a Secret whose version changes on each read.
type changing struct{ version int }

func (c *changing) Object(Ref) (Object, error) {
	c.version++
	v := fmt.Sprint(c.version)
	return Object{Version: v, Values: map[string][]byte{"user": []byte(v), "password": []byte(v)}}, nil
}

// Two values of a Secret have the same version, which is recorded.
func TestScopeReadsAnObjectOnce(t *testing.T) {
	s := NewScope("team", &changing{})
	user, _ := s.SecretKey(secretKey("web", "user"))
	password, _ := s.SecretKey(secretKey("web", "password"))
	if deps := s.Dependencies(); user != password || len(deps) != 1 || deps[0].Version != user {
		t.Errorf("user of version %s, password of %s, %v", user, password, deps)
	}
}
