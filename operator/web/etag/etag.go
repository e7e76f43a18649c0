// Package etag writes JSON with an entity tag, so that callers who have it already get 304.
package etag

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// WriteJSON writes a response, or 304 if it matches the caller's entity tag.
func WriteJSON(w http.ResponseWriter, r *http.Request, body []byte) {
	sum := sha256.Sum256(body)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"` // weak: the body may be compressed
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Authorization, Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodPost && matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	_, _ = w.Write(body) // an error means that the caller has disconnected
}

// matches reports whether If-None-Match contains the tag.
func matches(header, tag string) bool {
	for have := range strings.SplitSeq(header, ",") {
		have = strings.TrimSpace(have)
		if have == "*" || strings.TrimPrefix(have, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
