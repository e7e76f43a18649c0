package local

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
)

// Guard only accepts requests for the address, and rejects those that other sites make the browser
// send: scripts, frames, forms. It accepts requests that do not come from a browser, and links from
// other sites to a page.
//
// A rejected request gets a metav1.Status with code 403.
func Guard(next http.Handler, a Address) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		switch {
		case !a.named(r.Host):
			refuse(w, "the header Host does not name the address on which these pages are served: open "+a.URL())
		case !fromHere(r):
			refuse(w, "another site asked for this page: open it in a window of its own")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// fromHere reports whether the request was not sent by another site. Browsers report sites on other
// ports of this machine as same-site.
func fromHere(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case origin == "null" && site == "same-origin": // a form of a page that sends no referrer
	case origin != "" && origin != "http://"+r.Host:
		return false
	}
	switch site {
	case "", "none", "same-origin":
		return true
	}
	followed := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return followed && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

func refuse(w http.ResponseWriter, message string) {
	w.Header().Set("Cache-Control", "no-store")
	httpserver.WriteJSON(w, http.StatusForbidden, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: message,
	})
}
