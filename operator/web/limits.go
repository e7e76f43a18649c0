package web

import (
	"context"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Limits of the API: requests at a time, and the time of one.
const (
	atATime = 20
	longest = 10 * time.Second
)

// limited answers 429 to requests beyond atATime, and ends the context of others after
// longest.
func limited(next http.Handler) http.Handler {
	slots := make(chan struct{}, atATime)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			fail(w, apierrors.NewTooManyRequests("the operator answers 20 requests at a time", 1))
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), longest)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
