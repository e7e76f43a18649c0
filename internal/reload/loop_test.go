package reload

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// TestProbesDuringAStep probes the endpoints while a large configuration is rendered.
func TestProbesDuringAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		l := &Loop{Interval: time.Minute, Logger: slog.New(slog.DiscardHandler), Step: func(context.Context) (Content, error) {
			time.Sleep(40 * time.Second)
			return Content{Version: time.Now().String()}, nil
		}}
		ctx, stop := context.WithCancel(t.Context())
		go l.Run(ctx)
		mux := http.NewServeMux()
		l.Register(mux)
		time.Sleep(110 * time.Second) // the second step runs
		for _, path := range []string{"/healthz", "/readyz"} {
			w := httptest.NewRecorder()
			if mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil)); w.Code != http.StatusOK || time.Since(begun) > 110*time.Second {
				t.Errorf("%s: %d after %s", path, w.Code, time.Since(begun))
			}
		}
		stop()
		time.Sleep(time.Minute) // until the step has ended
	})
}
