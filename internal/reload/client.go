package reload

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// maxFile is the maximum size of a file of the options in bytes, that of a Secret or ConfigMap.
const maxFile = 1 << 20

// ClientOptions configure connections to the server. All files are reread for every request, so that
// renewed certificates and passwords need no restart.
type ClientOptions struct {
	// Timeout limits connecting, and each request as a whole.
	Timeout time.Duration

	// CAFile is a PEM bundle that must verify the server's certificate; empty means the system's.
	CAFile string
	// CertFile and KeyFile are a PEM client certificate; both or none.
	CertFile, KeyFile string
	// ServerName replaces the host name of the URL in the verification of the certificate.
	ServerName string
	// SkipVerify accepts any server certificate. Ignored when CAFile is set.
	SkipVerify bool

	// UsernameFile and PasswordFile hold basic authentication. They take precedence over user information
	// in the URL.
	UsernameFile, PasswordFile string
	// BearerTokenFile holds a bearer token.
	BearerTokenFile string
	// HeaderFiles maps a header name to the file with its value.
	HeaderFiles map[string]string
}

// Validate checks that the options are consistent. It reads no file.
func (o ClientOptions) Validate() error {
	switch {
	case (o.CertFile == "") != (o.KeyFile == ""):
		return errors.New("a client certificate needs both a certificate file and a key file")
	case o.PasswordFile != "" && o.UsernameFile == "":
		return errors.New("a password file needs a username file")
	case o.BearerTokenFile != "" && o.UsernameFile != "":
		return errors.New("a bearer token file and basic authentication are mutually exclusive")
	}
	return nil
}

// Loopback reports whether a URL refers to this machine (or pod), where server certificates are usually
// self-signed or issued for another name.
func Loopback(u *url.URL) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// client returns a client for one exchange. It opens a connection per request (keep-alive would hide a
// restarted server) and follows no redirects (a POST would become a GET).
func (o ClientOptions) client(ctx context.Context) (*http.Client, error) {
	cfg, err := o.tlsConfig(ctx)
	if err != nil {
		return nil, &Error{Reason: BadRequest, Err: err}
	}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: o.Timeout}).DialContext,
			TLSHandshakeTimeout: o.Timeout,
			TLSClientConfig:     cfg,
			DisableKeepAlives:   true,
			DisableCompression:  true,

			MaxResponseHeaderBytes: headerSize,
		},
	}, nil
}

func (o ClientOptions) tlsConfig(ctx context.Context) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: o.ServerName, InsecureSkipVerify: o.SkipVerify && o.CAFile == ""}
	if o.CAFile != "" {
		pem, err := volume.ReadFile(ctx, o.CAFile, maxFile)
		if err != nil {
			return nil, fmt.Errorf("CA: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("CA: no certificate in %s", o.CAFile)
		}
	}
	if o.CertFile != "" {
		pair, err := keyPair(ctx, o.CertFile, o.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

func keyPair(ctx context.Context, certFile, keyFile string) (pair tls.Certificate, err error) {
	cert, err := volume.ReadFile(ctx, certFile, maxFile)
	if err != nil {
		return pair, err
	}
	key, err := volume.ReadFile(ctx, keyFile, maxFile)
	if err != nil {
		return pair, err
	}
	return tls.X509KeyPair(cert, key)
}

// request returns an authenticated request without a body.
func (o ClientOptions) request(ctx context.Context, method string, u *url.URL) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, &Error{Reason: BadRequest, Err: withoutURL(err)}
	}
	if err := o.authorize(req); err != nil {
		return nil, &Error{Reason: BadRequest, Err: err}
	}
	return req, nil
}

// Get requests u with these additional headers and returns the response, whose body the caller closes.
// It follows no redirects and does not decompress. Timeout limits only connecting.
//
// Errors: a file of the options is unusable, or there is no response. None contains a credential.
func (o ClientOptions) Get(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	return o.do(ctx, http.MethodGet, u, header, nil)
}

// Post is like Get, and sends a body.
func (o ClientOptions) Post(ctx context.Context, u *url.URL, header http.Header, body []byte) (*http.Response, error) {
	return o.do(ctx, http.MethodPost, u, header, body)
}

func (o ClientOptions) do(ctx context.Context, method string, u *url.URL, header http.Header, body []byte) (*http.Response, error) {
	client, err := o.client(ctx)
	if err != nil {
		return nil, err
	}
	req, err := o.request(ctx, method, u)
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, &Error{Reason: Unreachable, Err: withoutURL(err)}
	}
	return resp, nil
}

func (o ClientOptions) authorize(req *http.Request) error {
	if o.UsernameFile != "" {
		user, err := readSecret(req.Context(), "username", o.UsernameFile)
		if err != nil {
			return err
		}
		password := ""
		if o.PasswordFile != "" {
			if password, err = readSecret(req.Context(), "password", o.PasswordFile); err != nil {
				return err
			}
		}
		req.SetBasicAuth(user, password)
	}
	if o.BearerTokenFile != "" {
		token, err := readSecret(req.Context(), "bearer token", o.BearerTokenFile)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for name, file := range o.HeaderFiles {
		value, err := readSecret(req.Context(), "header "+name, file)
		if err != nil {
			return err
		}
		if name == "Host" { // not sent if it is in Header
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	return nil
}

// readSecret reads a one-line value. It removes trailing line breaks, which editors add.
func readSecret(ctx context.Context, what, file string) (string, error) {
	b, err := volume.ReadFile(ctx, file, maxFile)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	s := strings.TrimRight(string(b), "\r\n")
	if strings.ContainsAny(s, "\r\n") {
		return "", fmt.Errorf("%s: %s has more than one line", what, file)
	}
	return s, nil
}
