package promconfig

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

var dnsName = lazyregexp.New(`^([a-zA-Z0-9_]{1}[a-zA-Z0-9_-]{0,62}){1}(\.[a-zA-Z0-9_]{1}[a-zA-Z0-9_-]{0,62})*[\._]?$`)

// maxDNSName is the maximum length of a DNS name without dots.
const maxDNSName = 255

// checkHost accepts "host" or "host:port" with a DNS name or an IP address. An IPv6
// address with a port needs brackets.
func checkHost(text string) error {
	if text == "" {
		return errors.New("is required: host or host:port")
	}
	if scheme, rest, is := strings.Cut(text, "://"); is && !strings.Contains(text, "@") {
		host, path, _ := strings.Cut(rest, "/")
		if path != "" {
			path = " and prober.path: /" + path
		}
		return fmt.Errorf("%q: want host or host:port, without scheme and path; write %s, with prober.scheme: %s%s", text, host, scheme, path)
	}
	if host, path, is := strings.Cut(text, "/"); is && host != "" && !strings.Contains(text, "@") {
		return fmt.Errorf("%q: want host or host:port, without path; write %s, with prober.path: /%s", text, host, path)
	}
	if strings.Contains(text, "@") { // may be a URL with a password, so the error does not contain it
		return errors.New("must be host or host:port, without user and password")
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil { // no port, or an IPv6 address without brackets
		host = text
	} else if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%q: the port must be a number from 1 to 65535", text)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	if len(strings.ReplaceAll(host, ".", "")) > maxDNSName || !dnsName.MatchString(host) {
		return fmt.Errorf("%q is neither host nor host:port", text)
	}
	return nil
}
