package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answer writes v as JSON, or 304 if it matches the caller's entity tag.
func answer(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		fail(w, err)
		return
	}
	sum := sha256.Sum256(body)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"` // weak: the body may be compressed
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Authorization, Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodPost && known(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	_, _ = w.Write(body) // an error means that the caller has gone
}

// known reports whether If-None-Match contains the tag.
func known(header, tag string) bool {
	for have := range strings.SplitSeq(header, ",") {
		have = strings.TrimSpace(have)
		if have == "*" || strings.TrimPrefix(have, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// refusal returns an error with an HTTP status code.
func refusal(code int32, reason metav1.StatusReason, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

// fail writes an error as a metav1.Status; an error that is not an API error is 500.
func fail(w http.ResponseWriter, err error) {
	is, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		is = apierrors.NewInternalError(err)
	}
	status := is.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(status); err != nil {
		panic(err) // a Status can always be encoded
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if status.Code == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if status.Code == http.StatusTooManyRequests || status.Code == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(body.Bytes())
}
