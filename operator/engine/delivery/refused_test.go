package delivery

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// trigger is a server that rejects reloads until takes is set.
type trigger struct{ takes atomic.Bool }

func (s *trigger) Reload(context.Context, reload.Request) error {
	if s.takes.Load() {
		return nil
	}
	return &reload.Error{Reason: reload.Rejected, Err: errors.New("answered 500: line 4: field hush not found in type config.plain")}
}

// TestOutcomeOfAReloader queries a real reload loop whose server first rejects and then accepts the
// content on disk.
func TestOutcomeOfAReloader(t *testing.T) {
	server := &trigger{}
	attempts, steps := make(chan struct{}, 10), make(chan struct{}, 10)
	target := reload.NewTarget(reload.TargetOptions{Name: "server", Trigger: server, Backoff: reload.Backoff{Base: time.Millisecond, Max: time.Millisecond},
		OnAttempt: func(reload.Attempt) {
			select {
			case attempts <- struct{}{}:
			default:
			}
		}})
	loop := &reload.Loop{
		Step: func(context.Context) (reload.Content, error) {
			return reload.Content{Version: "v", Files: []reload.FileSum{{InputSHA256: "aa"}}}, nil
		},
		Changes: steps, Interval: time.Hour, Targets: []*reload.Target{target}, Logger: slog.New(slog.DiscardHandler),
	}
	mux := http.NewServeMux()
	loop.Register(mux)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- loop.Run(ctx) }()
	outcome := func() Outcome {
		f, _ := Query(t.Context(), Pod{IP: "127.0.0.1", Scheme: "http", Ports: []int{port}}, Wanted{Content: Content{Config: "aa"}}, slowLimit)
		return f.Outcome
	}

	<-attempts
	if got := outcome(); got.State != Refused || got.Message != "the server rejected it: line 4: unknown field (see the log of its reloader)" {
		t.Errorf("a server that refuses: %+v", got)
	}
	server.takes.Store(true)
	for outcome().State != Applied {
		select {
		case <-attempts:
		case <-t.Context().Done():
			t.Fatal("the server takes it, and the outcome does not say so")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
