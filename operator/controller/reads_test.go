package controller

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// lines returns what was said since the last time, without times and levels.
func (b *lockedBuffer) lines() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.buf.String()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), "msg=")
		out = append(out, text)
	}
	b.buf.Reset()
	return out
}

func TestReadsAreSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		var log lockedBuffer
		reads := NewReads(slog.New(slog.NewTextHandler(&log, nil)))
		synced := map[string]bool{}
		var mu sync.Mutex
		add := func(resource string) *read {
			out := reads.add(resource, "demo", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return synced[resource]
			})
			out.start()
			return out
		}
		secrets, pods := add("secrets"), add("pods")
		reads.add("probes", "demo", func() bool { return false }) // never started: nobody waits
		go reads.Run(ctx)
		after := func(pause time.Duration, want ...string) {
			t.Helper()
			time.Sleep(pause)
			synctest.Wait()
			if got := log.lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("said:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		mu.Lock()
		synced["pods"] = true
		mu.Unlock()
		secrets.result(errors.New("no permission"))
		after(9 * time.Second)
		after(time.Minute, `"controller waits for the initial list of objects, retrying" waiting_for="secrets in namespace demo: no permission"`)
		secrets.result(errors.New("said in other words"))
		after(time.Hour)
		mu.Lock()
		synced["secrets"] = true
		mu.Unlock()
		secrets.result(nil)
		after(time.Minute, `"all lists and watches work again"`)
		pods.result(errors.New("no permission"))
		after(3 * time.Second)
		pods.result(nil)
		after(time.Hour)
		pods.result(errors.New("no permission"))
		after(time.Hour, `"list or watch failed, changes are not seen, retrying" not_read="pods in namespace demo: no permission"`)
	})
}
