package workload

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// HostPort returns the address of a port. An IPv6 address may have brackets.
func HostPort(host string, port int32) string {
	return net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(int(port)))
}

// urlPath returns a path as it is written in a URL. A path that is parsed unchanged is
// not escaped, even where net/url would do so, for non-ASCII letters for example, because
// a changed argument replaces pods.
func urlPath(p string) string {
	if read, err := url.Parse(p); err == nil && read.Path == p {
		return p
	}
	return (&url.URL{Path: p}).EscapedPath()
}

// ShellPath is like urlPath for a URL in a script that runs curl or wget: it is quoted
// and fully escaped if the shell or curl would interpret a character.
func ShellPath(p string) string {
	if strings.ContainsAny(p, " \t\"'`$&;|<>()*{}[]\\") {
		return "'" + (&url.URL{Path: p}).EscapedPath() + "'"
	}
	return urlPath(p)
}

// Endpoint returns the path of an endpoint of the server.
func (b *Base) Endpoint(name string) string {
	return path.Join("/", b.Fields.RoutePrefix, name)
}

// LocalURL returns the URL of an endpoint of the server for other containers of the pod.
// It depends on the route prefix but not on the external URL.
func (b *Base) LocalURL(scheme, endpoint string) string {
	return scheme + "://" + HostPort(b.Config.localhost(), b.Kind.Port) + urlPath(b.Endpoint(endpoint))
}

// RoutePrefix returns the route prefix. It is as the user wrote it if the server, which
// trims slashes at both ends, serves the same path.
func (b *Base) RoutePrefix() string {
	written, asked := b.Fields.RoutePrefix, b.Endpoint("")
	if written == "" || "/"+strings.Trim(written, "/") != asked {
		return asked
	}
	return written
}

// badWildcard matches a part of a path that the servers' router parses as a wildcard and panics on.
var badWildcard = regexp.MustCompile(`\*|:(/|$)|:[^/]*:`)

// CheckRoutePrefix rejects a prefix with which the server would not start.
func (b *Base) CheckRoutePrefix() error {
	if badWildcard.MatchString(b.Endpoint("")) {
		return faults.At("spec.routePrefix", fmt.Errorf("%q: the server takes \":\" and \"*\" for wildcards", b.Fields.RoutePrefix))
	}
	return nil
}
