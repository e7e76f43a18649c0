package reload

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// servers is a trigger that takes a while and rejects some versions.
type servers struct {
	takes   time.Duration
	rejects map[string]bool
}

func (s servers) Reload(ctx context.Context, r Request) error {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
	}
	if s.rejects[r.Version] {
		return fail(Rejected, "no")
	}
	return nil
}

// A report has the last changes of each path, when they were found, and when all servers had loaded them: also those
// that have been replaced since.
func TestRecentChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		content := func(config, rules string) Content {
			return Content{Version: config + rules, Files: []FileSum{{Input: "/config", InputSHA256: config}}, Dirs: []volume.DirSum{{Path: "/rules", SHA256: rules}}}
		}
		now, changes := content("a", "1"), make(chan struct{})
		l := &Loop{Step: func(context.Context) (Content, error) { return now, nil }, Changes: changes, Interval: time.Hour, Logger: slog.New(slog.DiscardHandler)}
		for _, s := range []servers{{takes: 12 * time.Millisecond, rejects: map[string]bool{"c2": true}}, {takes: 50 * time.Millisecond}} {
			l.Targets = append(l.Targets, NewTarget(TargetOptions{Name: "x", Trigger: s, Backoff: Backoff{Base: time.Minute, Max: time.Minute}}))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // fake clock
		wait(100 * time.Millisecond)
		if got := l.Report().Recent; got != nil {
			t.Errorf("the first content is no change: %v", got)
		}
		for _, next := range []struct{ config, rules string }{{"b", "1"}, {"b", "2"}, {"c", "2"}, {"d", "2"}} {
			now = content(next.config, next.rules)
			changes <- struct{}{}
			wait(100 * time.Millisecond)
		}
		// Changes while the servers load the first of them.
		for _, next := range []struct{ config, rules string }{{"e", "2"}, {"f", "2"}, {"g", "2"}, {"g", "3"}} {
			now = content(next.config, next.rules)
			changes <- struct{}{}
			wait(5 * time.Millisecond)
		}
		wait(time.Second)
		at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
		want := []Recent{
			{"/config", "b", at(100), at(150)},
			{"/rules", "2", at(200), at(250)},
			{"/config", "c", at(300), time.Time{}}, // rejected by one
			{"/config", "d", at(400), at(450)},
			{"/config", "e", at(500), at(550)},
			{"/config", "f", at(505), time.Time{}}, // the servers load g instead
			{"/config", "g", at(510), at(600)},
			{"/rules", "3", at(515), at(600)},
		}
		got := l.Report().Recent
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
			t.Error(diff)
		}
		for i := range 10 * maxRecent {
			now = content(fmt.Sprint(i), fmt.Sprint(i))
			changes <- struct{}{}
			wait(100 * time.Millisecond)
		}
		if got := l.Report().Recent; len(got) != maxRecent || len(l.Targets[0].loads) != maxRecent || got[maxRecent-1].SHA256 != fmt.Sprint(10*maxRecent-1) {
			t.Errorf("%d changes: %v", len(got), got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
