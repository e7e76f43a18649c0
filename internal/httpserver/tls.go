package httpserver

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/pemfile"
)

// TLS holds the values of the --web flags for TLS and creates the configuration of a
// server. Certificates are reloaded, so that a renewed one is used without a restart.
type TLS struct {
	Enable, HTTP2                bool
	CertFile, KeyFile, ClientCAs string
	ReloadInterval               time.Duration
	MinVersion                   string   // VersionTLS12 or VersionTLS13; empty means VersionTLS12
	CipherSuites                 []string // of TLS 1.2, by their Go names; empty means Go's default
	Curves                       []string // see Curves; empty means Go's default
	// Flags is the beginning of the names of the flags in messages; empty means --web.
	Flags string
}

// flag returns the name of a flag.
func (w *TLS) flag(name string) string { return cmp.Or(w.Flags, "--web.") + name }

// files returns the names of the flags for the certificate and the key.
func (w *TLS) files() string { return w.flag("cert-file") + ", " + w.flag("key-file") }

// Config returns the value for Options.TLS; nil means plain HTTP.
//
// Errors name the flag: an unknown version, suite or curve, or files that cannot be read
// or do not match.
func (w *TLS) Config(log *slog.Logger) (*tls.Config, error) {
	if !w.Enable {
		return nil, nil
	}
	switch {
	case w.CertFile == "" && w.KeyFile == "" && w.ClientCAs == "":
		log.Warn("no certificate configured, serving without TLS", "flags", w.files())
		return nil, nil
	case w.CertFile == "" || w.KeyFile == "":
		return nil, fmt.Errorf("%s: both are needed for %s", w.files(), w.flag("enable-tls"))
	}
	base := &tls.Config{NextProtos: []string{"http/1.1"}}
	if w.HTTP2 {
		base.NextProtos = []string{"h2", "http/1.1"}
	}
	var err error
	if base.MinVersion, err = minVersion(w.MinVersion); err != nil {
		return nil, err
	}
	if base.CipherSuites, err = cipherSuites(w.CipherSuites); err != nil {
		return nil, err
	}
	if base.CurvePreferences, err = curves(w.Curves); err != nil {
		return nil, err
	}
	files := &certificates{flags: w, base: base, log: log}
	if err := files.read(time.Now()); err != nil {
		return nil, err
	}
	if files.current.ClientCAs == nil && w.ClientCAs != "" {
		log.Warn("no client CA file, not requesting client certificates", "path", w.ClientCAs)
	}
	out := base.Clone()
	out.GetConfigForClient = files.configFor
	out.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &files.latest().Certificates[0], nil }
	return out, nil
}

// certificates caches the configuration from the files that were read last.
type certificates struct {
	flags *TLS
	base  *tls.Config
	log   *slog.Logger

	mu      sync.Mutex
	current *tls.Config
	at      time.Time
}

func (f *certificates) configFor(*tls.ClientHelloInfo) (*tls.Config, error) { return f.latest(), nil }

func (f *certificates) latest() *tls.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.at) >= f.flags.ReloadInterval {
		if err := f.read(now); err != nil {
			f.log.Error("cannot reload the certificates, keeping the previous ones", "err", err)
			f.at = now
		}
	}
	return f.current
}

// read replaces the configuration if all files are valid.
func (f *certificates) read(now time.Time) error {
	cert, err := f.pair()
	if err != nil {
		return fmt.Errorf("%s: %w", f.flags.files(), err)
	}
	next := f.base.Clone()
	next.Certificates = []tls.Certificate{cert}
	if info, err := os.Stat(f.flags.ClientCAs); err == nil && info.Mode().IsRegular() {
		text, err := os.ReadFile(f.flags.ClientCAs)
		if err != nil {
			return fmt.Errorf("--web.client-ca-file: %w", err)
		}
		if f.current != nil && pemfile.IsCut(text) {
			return fmt.Errorf("--web.client-ca-file: %s ends within a certificate", f.flags.ClientCAs)
		}
		next.ClientCAs = x509.NewCertPool()
		if !next.ClientCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("--web.client-ca-file: %s contains no certificate", f.flags.ClientCAs)
		}
		next.ClientAuth = tls.RequireAndVerifyClientCert
	} else if f.current != nil && f.current.ClientCAs != nil {
		return errors.New("--web.client-ca-file: file was removed") // do not drop client verification while running
	}
	f.current, f.at = next, now
	return nil
}

// pair reads the certificate and the key.
func (f *certificates) pair() (cert tls.Certificate, err error) {
	text, err := os.ReadFile(f.flags.CertFile)
	if err != nil {
		return cert, err
	}
	key, err := os.ReadFile(f.flags.KeyFile)
	if err != nil {
		return cert, err
	}
	if f.current != nil && pemfile.IsCut(text) {
		return cert, fmt.Errorf("%s ends within a certificate", f.flags.CertFile)
	}
	return tls.X509KeyPair(text, key)
}

func minVersion(name string) (uint16, error) {
	switch name {
	case "", "VersionTLS12":
		return tls.VersionTLS12, nil
	case "VersionTLS13":
		return tls.VersionTLS13, nil
	}
	return 0, fmt.Errorf("--web.tls-min-version=%s: want VersionTLS12 or VersionTLS13", name)
}

func cipherSuites(names []string) (out []uint16, err error) {
	known := tls.CipherSuites()
	for _, name := range names {
		if name == "" {
			continue
		}
		i := slices.IndexFunc(known, func(s *tls.CipherSuite) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("--web.tls-cipher-suites: unknown cipher suite %q", name)
		}
		out = append(out, known[i].ID)
	}
	return out, nil
}

// Curves returns the names of the elliptic curves that TLS.Curves accepts.
func Curves() []string { return slices.Clone(curveNames) }

var (
	curveNames = []string{"CurveP256", "CurveP384", "CurveP521", "X25519", "X25519MLKEM768"}
	curveIDs   = []tls.CurveID{tls.CurveP256, tls.CurveP384, tls.CurveP521, tls.X25519, tls.X25519MLKEM768}
)

func curves(names []string) (out []tls.CurveID, err error) {
	for _, name := range names {
		i := slices.Index(curveNames, name)
		if i < 0 {
			return nil, fmt.Errorf("--web.tls-curves: %q is not one of %s", name, strings.Join(curveNames, ", "))
		}
		out = append(out, curveIDs[i])
	}
	return out, nil
}
