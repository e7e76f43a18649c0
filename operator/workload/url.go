package workload

import (
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// hostPort is the address of a port; an IPv6 address may come with brackets or
// without.
func hostPort(host string, port int32) string {
	return net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(int(port)))
}

// urlPath is how a URL spells a path. A path that is read as it is written
// stays so, even where net/url would escape more ("/größe"): arguments that
// change replace pods.
func urlPath(p string) string {
	if read, err := url.Parse(p); err == nil && read.Path == p {
		return p
	}
	return (&url.URL{Path: p}).EscapedPath()
}

// shellPath is urlPath for a URL in a script that runs curl or wget: quoted and
// escaped in full where one of them would read something into it.
func shellPath(p string) string {
	if strings.ContainsAny(p, " \t\"'`$&;|<>()*{}[]\\") {
		return "'" + (&url.URL{Path: p}).EscapedPath() + "'"
	}
	return urlPath(p)
}

// endpoint is the path of one of the server's endpoints.
func (o *Owner) endpoint(name string) string {
	return path.Join("/", o.common.RoutePrefix, name)
}

// routePrefix stays as the user wrote it where Prometheus, which cuts slashes
// off at both ends, reads the path under which everybody asks.
func (o *Owner) routePrefix() string {
	written, asked := o.common.RoutePrefix, o.endpoint("")
	if written == "" || "/"+strings.Trim(written, "/") != asked {
		return asked
	}
	return written
}

// localURL is how other containers of the pod reach an endpoint of the server.
// Only the route prefix counts, the external URL does not.
func (o *Owner) localURL(endpoint string) string {
	return o.scheme() + "://" + hostPort(o.cfg.localhost(), webPort) + urlPath(o.endpoint(endpoint))
}
