package workload

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// serverTLSBlock is the block tls_server_config of a server's configuration file.
type serverTLSBlock struct {
	CertFile          string `yaml:"cert_file,omitempty"`
	KeyFile           string `yaml:"key_file,omitempty"`
	serverTLSSettings `yaml:",inline"`
}

// serverTLSSettings is what follows the certificate and its key.
type serverTLSSettings struct {
	ClientAuthType           string   `yaml:"client_auth_type,omitempty"`
	ClientCAFile             string   `yaml:"client_ca_file,omitempty"`
	MinVersion               string   `yaml:"min_version,omitempty"`
	MaxVersion               string   `yaml:"max_version,omitempty"`
	CipherSuites             []string `yaml:"cipher_suites,omitempty"`
	PreferServerCipherSuites *bool    `yaml:"prefer_server_cipher_suites,omitempty"`
	CurvePreferences         []string `yaml:"curve_preferences,omitempty"`
}

// serverTLS returns the block, nil without t. Mounted files override plain paths.
func serverTLS(t *v1.WebTLSConfig, mounted mountedTLS) *serverTLSBlock {
	if t == nil {
		return nil
	}
	return &serverTLSBlock{
		CertFile: cmp.Or(mounted.cert.path(), t.CertFile),
		KeyFile:  cmp.Or(mounted.key.path(), t.KeyFile),
		serverTLSSettings: serverTLSSettings{
			ClientAuthType:           t.ClientAuthType,
			ClientCAFile:             cmp.Or(mounted.ca.path(), t.ClientCAFile),
			MinVersion:               t.MinVersion,
			MaxVersion:               t.MaxVersion,
			CipherSuites:             t.CipherSuites,
			PreferServerCipherSuites: t.PreferServerCipherSuites,
			CurvePreferences:         t.CurvePreferences,
		},
	}
}

// mountServerTLS mounts the references of t in subdirectories of dir.
func mountServerTLS(t *v1.WebTLSConfig, volume, dir string) mountedTLS {
	if t == nil {
		return mountedTLS{}
	}
	return mountTLS(volume, dir, secretRef(t.KeySecret), t.Cert, t.ClientCA)
}

// checkServerTLS validates a block and returns all errors, which name field.
func checkServerTLS(field string, t *v1.WebTLSConfig) error {
	if t == nil {
		return nil
	}
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, faults.At(field, fmt.Errorf(format, args...)))
	}
	for _, row := range []struct {
		field, fileField, file string
		ref                    v1.SecretOrConfigMap
	}{
		{"keySecret", "keyFile", t.KeyFile, secretRef(t.KeySecret)},
		{"cert", "certFile", t.CertFile, t.Cert},
		{"client_ca", "clientCAFile", t.ClientCAFile, t.ClientCA},
	} {
		if row.ref.Secret != nil && row.ref.ConfigMap != nil {
			bad("%s names both a Secret and a ConfigMap", row.field)
		}
		if row.file != "" && refers(row.ref) {
			bad("%s and %s are mutually exclusive: remove one of them", row.field, row.fileField)
		}
	}
	if t.KeyFile == "" && !refers(secretRef(t.KeySecret)) {
		bad("no private key: set keySecret or keyFile")
	}
	if t.CertFile == "" && !refers(t.Cert) {
		bad("no certificate: set cert or certFile")
	}
	return errors.Join(append(errs, checkServerValues(field, t)...)...)
}

// Values of a block that servers read, in the order of Go's constants. Servers exit at any other.
var (
	clientAuthTypes = []string{"NoClientCert", "RequestClientCert", "RequireAnyClientCert", "RequireClientCert", "VerifyClientCertIfGiven", "RequireAndVerifyClientCert"}
	tlsCurves       = []string{"CurveP256", "CurveP384", "CurveP521", "X25519", "X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"}
	cipherSuites    = sync.OnceValue(func() (names []string) {
		for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
			names = append(names, suite.Name)
		}
		return names
	})
)

// checkServerValues returns an error for each value with which a server exits when it reads its file.
func checkServerValues(field string, t *v1.WebTLSConfig) (errs []error) {
	known := func(name, value string, all []string) bool {
		if value == "" || slices.Contains(all, value) {
			return true
		}
		advice := "write one of " + strings.Join(all, ", ")
		if meant := manifest.Similar(value, all); meant != "" || len(all) > 10 {
			advice = "write a name of Go's package crypto/tls, such as " + cmp.Or(meant, all[0])
		}
		errs = append(errs, faults.At(field+"."+name, fmt.Errorf("%q is unknown, and the server does not start with it; %s", excerpt.Of(value, 40), advice)))
		return false
	}
	known("clientAuthType", t.ClientAuthType, clientAuthTypes)
	var versions []string
	for _, version := range slices.Sorted(maps.Keys(tlsVersions)) {
		versions = append(versions, string(version))
	}
	known("minVersion", t.MinVersion, versions)
	known("maxVersion", t.MaxVersion, versions)
	for i, name := range t.CipherSuites {
		if !known(faults.Index("cipherSuites", i), name, cipherSuites()) {
			break // a list may have any length
		}
	}
	for i, name := range t.CurvePreferences {
		if !known(faults.Index("curvePreferences", i), name, tlsCurves) {
			break
		}
	}
	low, high := cmp.Or(t.MinVersion, "TLS12"), cmp.Or(t.MaxVersion, "TLS13") // the defaults
	if slices.Contains(versions, low) && slices.Contains(versions, high) && high < low {
		errs = append(errs, faults.At(field+".maxVersion", fmt.Errorf("%q is below minVersion %q", high, low)))
	}
	return errs
}
