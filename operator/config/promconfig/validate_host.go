package promconfig

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

var dnsName = regexp.MustCompile(`^([a-zA-Z0-9_]{1}[a-zA-Z0-9_-]{0,62}){1}(\.[a-zA-Z0-9_]{1}[a-zA-Z0-9_-]{0,62})*[\._]?$`)

// maxDNSName is the longest DNS name, dots not counted.
const maxDNSName = 255

// checkHost takes "host" or "host:port" with a DNS name or an IP address; an
// IPv6 address needs brackets when a port follows.
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
	if strings.Contains(text, "@") { // of a URL with a password, which no message repeats
		return errors.New("must be host or host:port, without user and password")
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil { // no port, or a bare IPv6 address
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
