package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/web/etag"
)

// answer writes v as JSON, or 304 if it matches the caller's entity tag.
func answer(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		fail(w, err)
		return
	}
	etag.WriteJSON(w, r, body)
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
