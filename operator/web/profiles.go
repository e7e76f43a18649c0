package web

import (
	"net"
	"net/http"

	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Guard restricts profiles of the process, /debug/pprof/: if the API requires a token, only callers
// with a valid token and the machine itself can read them.
func (h *Handler) Guard(profiles http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.mode == Authenticated && !isLocal(r.RemoteAddr) {
			if _, err := h.Authorize(r, insight.Object{}); err != nil {
				fail(w, err)
				return
			}
		}
		profiles.ServeHTTP(w, r)
	})
}

func isLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}
