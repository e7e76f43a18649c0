package informer

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// said returns the lines logged since the last call, without times and levels.
func said(log *logtest.Log) (out []string) {
	for line := range strings.Lines(log.Take()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), "msg=")
		out = append(out, text)
	}
	return out
}

func TestReadsAreSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		var log logtest.Log
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
		reads.add("probes", "demo", func() bool { return false }) // never started and thus not reported
		go reads.Run(ctx)
		after := func(pause time.Duration, want ...string) {
			t.Helper()
			time.Sleep(pause)
			synctest.Wait()
			if got := said(&log); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("said:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		mu.Lock()
		synced["pods"] = true
		mu.Unlock()
		secrets.result("list", errors.New("no permission"))
		after(9 * time.Second)
		after(time.Minute, `"controller waits for the initial list of objects, retrying" waiting_for="secrets in namespace demo: no permission"`)
		secrets.result("list", errors.New("said in other words"))
		after(time.Hour)
		mu.Lock()
		synced["secrets"] = true
		mu.Unlock()
		secrets.result("list", nil)
		after(time.Minute, `"all lists and watches work again"`)
		pods.result("list", errors.New("no permission"))
		after(3 * time.Second)
		pods.result("list", nil)
		after(time.Hour)
		pods.result("list", errors.New("no permission"))
		after(time.Hour, `"list or watch failed, changes are not seen, retrying" not_read="pods in namespace demo: no permission"`)
	})
}
