package httpsd

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

const (
	// timeout of a request with all its redirects.
	timeout = 10 * time.Second
	// maxList is the maximum size of a response in bytes: some 100,000 targets.
	maxList = 16 << 20
	// maxObjects is the maximum number of JSON objects in a response: each group has one or two, and takes about a
	// kilobyte of memory.
	maxObjects = 400_000
	// maxRedirects is equal to the limit of Prometheus.
	maxRedirects = 10
	// AnyHost as a host of [New] permits all hosts.
	AnyHost = "*"
)

// Client requests target lists over HTTP.
type Client struct {
	hosts []string
}

// New returns a client that may send requests to these hosts: "inventory.example" with any port,
// "inventory.example:8443", or [AnyHost]. Without hosts it sends no requests.
func New(hosts []string) *Client {
	var out []string
	for _, h := range hosts {
		out = append(out, strings.ToLower(h))
	}
	return &Client{hosts: out}
}

// Find requests the targets of a discovery. Any failure is reported as a gap.
func (c *Client) Find(ctx context.Context, sd *targets.HTTPSD) (out targets.Found) {
	err := c.check(sd)
	if err == nil {
		out.Groups, err = c.fetch(ctx, sd)
	}
	if err != nil {
		out.Gaps = []targets.Gap{{State: targets.Unknown, Message: "targets of " + shown(sd.URL) + " are not known: " + err.Error()}}
	}
	return out
}

// check returns why a discovery must not be requested.
func (c *Client) check(sd *targets.HTTPSD) error {
	u, err := url.Parse(sd.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("its URL is none of http or https with a host")
	case len(sd.Needs) > 0:
		return fmt.Errorf("requests need %s, which only the running Prometheus has", strings.Join(sd.Needs, ", "))
	case authenticates(u):
		return fmt.Errorf("its URL has credentials, which only the running Prometheus sends")
	case !c.permits(u):
		return fmt.Errorf("only the running Prometheus asks this host; --http-sd=%s asks it from here, without credentials", u.Host)
	}
	return nil
}

// permits reports whether requests to the host of a URL are permitted.
func (c *Client) permits(u *url.URL) bool {
	return slices.Contains(c.hosts, AnyHost) || slices.Contains(c.hosts, strings.ToLower(u.Host)) || slices.Contains(c.hosts, strings.ToLower(u.Hostname()))
}

// client returns an HTTP client with the settings of a discovery.
func (c *Client) client(sd *targets.HTTPSD) *http.Client {
	dialer := net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error { return c.checkAddress(address) }}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{ // without a proxy, as in the pod
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: sd.SkipVerify}, //nolint:gosec // the author of the object wants it, and nothing secret is sent
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case sd.NoRedirects:
				return http.ErrUseLastResponse
			case len(via) >= maxRedirects:
				return fmt.Errorf("more than %d redirects", maxRedirects)
			case r.URL.Scheme != "http" && r.URL.Scheme != "https" || authenticates(r.URL):
				return fmt.Errorf("it is redirected to a URL that is not asked")
			case !c.permits(r.URL):
				return fmt.Errorf("it is redirected to %s, which --http-sd does not name", r.URL.Host)
			}
			r.Header.Del("Referer")
			return nil
		},
	}
}

// checkAddress rejects addresses that mean something different in the pod than they do here,
// regardless of the name that resolved to them: those of the machine itself and of its link, where
// clouds serve credentials.
//
// Errors: such an address, unless it is permitted explicitly.
func (c *Client) checkAddress(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap()
	local := ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified()
	if local && !slices.Contains(c.hosts, ip.String()) && !slices.Contains(c.hosts, at.String()) {
		return fmt.Errorf("%s is another machine here than in the pod of Prometheus", ip)
	}
	return nil
}

// request returns the request for a discovery.
func request(ctx context.Context, sd *targets.HTTPSD) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, sd.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "firekeeper/"+version.Version)
	return r, nil
}

// read reads a response, up to a limit.
func read(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxList+1))
	if err == nil && len(text) > maxList {
		return nil, fmt.Errorf("it answers with more than %d MiB", maxList>>20)
	}
	return text, err
}
