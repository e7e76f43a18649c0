package workload

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// HostPort is the address of a port; an IPv6 address may come with brackets or
// without.
func HostPort(host string, port int32) string {
	return net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(int(port)))
}

// URLPath is how a URL spells a path. A path that is read as it is written
// stays so, even where net/url would escape more ("/größe"): arguments that
// change replace pods.
func URLPath(p string) string {
	if read, err := url.Parse(p); err == nil && read.Path == p {
		return p
	}
	return (&url.URL{Path: p}).EscapedPath()
}

// ShellPath is URLPath for a URL in a script that runs curl or wget: quoted and
// escaped in full where one of them would read something into it.
func ShellPath(p string) string {
	if strings.ContainsAny(p, " \t\"'`$&;|<>()*{}[]\\") {
		return "'" + (&url.URL{Path: p}).EscapedPath() + "'"
	}
	return URLPath(p)
}

// Endpoint is the path of one of the server's endpoints.
func (b *Base) Endpoint(name string) string {
	return path.Join("/", b.Fields.RoutePrefix, name)
}

// LocalURL is how other containers of the pod reach an endpoint of the server.
// Only the route prefix counts, the external URL does not.
func (b *Base) LocalURL(scheme, endpoint string) string {
	return scheme + "://" + HostPort(b.Config.localhost(), b.Kind.Port) + URLPath(b.Endpoint(endpoint))
}

// RoutePrefix stays as the user wrote it where the server, which cuts slashes
// off at both ends, reads the path under which everybody asks.
func (b *Base) RoutePrefix() string {
	written, asked := b.Fields.RoutePrefix, b.Endpoint("")
	if written == "" || "/"+strings.Trim(written, "/") != asked {
		return asked
	}
	return written
}

// badWildcard is a part of a path that the servers' router takes for a wildcard and
// then panics on.
var badWildcard = regexp.MustCompile(`\*|:(/|$)|:[^/]*:`)

// CheckRoutePrefix refuses a prefix with which the server would not start.
func (b *Base) CheckRoutePrefix() error {
	if badWildcard.MatchString(b.Endpoint("")) {
		return fmt.Errorf("spec.routePrefix: %q: the server takes \":\" and \"*\" for wildcards", b.Fields.RoutePrefix)
	}
	return nil
}
