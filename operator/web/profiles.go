package web

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// Guard restricts profiles of the process, /debug/pprof/: if the API requires a token, only callers
// who may get the path, a nonResourceURL as at an API server, and the machine itself can read them.
func (h *Handler) Guard(profiles http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.mode == Authenticated && !isLocal(r) {
			if err := h.authorizePath(r); err != nil {
				fail(w, err)
				return
			}
		}
		profiles.ServeHTTP(w, r)
	})
}

// isLocal reports whether a request comes from the machine itself, such as through kubectl port-forward.
// A proxy in the pod, such as that of a service mesh, sends the requests of others from there.
func isLocal(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback() && !isForwarded(r.Header)
}

// ofProxies are the beginnings of names of headers that proxies add.
var ofProxies = []string{"Forwarded", "Via", "X-Forwarded-", "X-Real-", "X-Request-", "X-Envoy-", "L5d-"}

// isForwarded reports whether a proxy has sent the request.
func isForwarded(h http.Header) bool {
	for name := range h {
		if slices.ContainsFunc(ofProxies, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
			return true
		}
	}
	return false
}
