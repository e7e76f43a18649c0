package local

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Address is a host:port on which pages are served.
type Address struct {
	host string     // as given, in lower case
	ip   netip.Addr // invalid for a name; unspecified for all addresses
	port uint16
}

// Parse parses an address.
//
// Errors: it is not host:port.
func Parse(text string) (Address, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, fmt.Errorf("want host:port, such as 127.0.0.1:9099: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return Address{}, fmt.Errorf("port %q: want a number from 0 to 65535", port)
	}
	a := Address{host: strings.ToLower(host), port: uint16(number)}
	if host == "" {
		a.ip = netip.IPv6Unspecified()
	} else if ip, err := netip.ParseAddr(host); err == nil {
		a.ip = ip.Unmap()
	}
	return a, nil
}

// WithPort returns the address with the actual port, for a requested port of 0.
func (a Address) WithPort(port uint16) Address {
	a.port = port
	return a
}

// String returns the address to listen on.
func (a Address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(int(a.port))) }

// IsLoopback reports whether only this machine reaches the address.
func (a Address) IsLoopback() bool { return a.ip.IsLoopback() || a.host == "localhost" }

// URL returns the URL of the first page, for a browser on this machine.
func (a Address) URL() string {
	switch {
	case a.everywhere():
		return "http://" + a.withPort("127.0.0.1") + "/"
	case a.ip.IsValid():
		return "http://" + a.withPort(a.ip.String()) + "/"
	}
	return "http://" + a.withPort(a.host) + "/"
}

// httpPort is the default port, which URLs omit.
const httpPort = 80

func (a Address) withPort(host string) string {
	switch {
	case a.port != httpPort:
		return net.JoinHostPort(host, strconv.Itoa(int(a.port)))
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}

func (a Address) everywhere() bool { return a.ip.IsValid() && a.ip.IsUnspecified() }

// named reports whether a Host header matches the address. A loopback address matches all loopback
// addresses. The unspecified address matches any IP address: DNS was not involved if a browser
// requests an IP address.
func (a Address) named(header string) bool {
	host, port, err := net.SplitHostPort(header)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(header, "["), "]"), strconv.Itoa(httpPort)
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || uint16(number) != a.port {
		return false
	}
	host = strings.ToLower(host)
	ip, err := netip.ParseAddr(host)
	isIP := err == nil && !ip.Unmap().IsUnspecified()
	switch {
	case a.everywhere():
		return isIP || host == "localhost"
	case a.IsLoopback():
		return isIP && ip.Unmap().IsLoopback() || host == "localhost"
	case a.ip.IsValid():
		return isIP && ip.Unmap() == a.ip
	}
	return host == a.host
}
