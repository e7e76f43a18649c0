package page

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A stream ends when the token of its caller does, and goes on while nobody can say.
func TestStreamOfRevokedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answer error
		began := time.Now()
		w := httptest.NewRecorder()
		done := make(chan struct{})
		go func() {
			defer close(done)
			stream{w, http.NewResponseController(w), nil, func() error { return answer }}.run(t.Context(), newNews(), nil)
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		answer = apierrors.NewServiceUnavailable("the API server is away")
		time.Sleep(time.Minute)
		synctest.Wait()
		answer = apierrors.NewUnauthorized("the token is not valid")
		<-done
		if after := time.Since(began); after < 2*time.Minute || after > 2*time.Minute+silence {
			t.Errorf("the stream ends after %s", after)
		}
	})
}
