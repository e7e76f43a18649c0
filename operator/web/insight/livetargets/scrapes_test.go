package livetargets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// servers are two replicas that scrape the same target, and one that does not answer.
type servers struct {
	queries int
	takes   time.Duration
}

func (s *servers) Health(_ context.Context, _ *preview.Workload, each func(*preview.ServerResponse, promapi.Target)) []preview.ServerResponse {
	s.queries++
	time.Sleep(s.takes)
	target := promapi.Target{Job: webJob, URL: "http://10.0.0.2:80/metrics?token=s3cret", LastScrape: time.Now(), Duration: 0.25}
	out := []preview.ServerResponse{{Pod: "a-0"}, {Pod: "a-1", Shard: 1}, {Pod: "b-0", Node: "n", Answer: promapi.Answer{Err: errors.New("no answer")}}}
	target.Health = "up"
	each(&out[0], target)
	target.Health, target.LastError = "down", "refused by http://me:s3cret@proxy/"
	each(&out[1], target)
	target.URL = "http://10.0.0.9/metrics"
	each(&out[1], target)
	return out
}

// checkScrapes checks the answer of [servers].
func checkScrapes(t *testing.T, got *insight.Scrapes, err error, shown preview.Target) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	is := got.Of(shown.Job, shown.URL)
	if is.Health != "down" || !strings.HasPrefix(is.Error, "refused by http://") || strings.Contains(is.Error, "s3cret") || is.Took != 250*time.Millisecond || is.At.IsZero() {
		t.Errorf("%s: %+v", shown.URL, is)
	}
	if text := fmt.Sprint(got.Pods); text != "[{a-0 0  1 0 0 } {a-1 1  0 2 0 } {b-0 0 n 0 0 0 no answer}]" {
		t.Error(text)
	}
}

// The health of a target is the worst of all replicas. Servers are queried again after some seconds.
func TestScrapes(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		if b.CanQuery() {
			t.Error("asks without permissions")
		}
		of := &servers{}
		b.Servers = of
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.request(t, everything{}, all(ofMain))
		settled(aMinute)
		shown := b.request(t, everything{}, all(ofMain)).Items[0]
		for i, want := range []int{1, 1, 2} {
			if i == 2 {
				settled(aMinute)
			}
			got, err := b.Scrapes(t.Context(), everything{}, ofMain, nil)
			checkScrapes(t, got, err, shown)
			if of.queries != want {
				t.Errorf("%d queries, not %d", of.queries, want)
			}
		}
		if _, err := b.Scrapes(t.Context(), everything{}, insight.Object{Row: ofMain.Row}, nil); err == nil {
			t.Error("of no workload")
		}
	})
}

// Slow servers are queried once for concurrent requests, even if the first request ends.
func TestScrapesOfSlowServers(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		of := &servers{takes: 3 * time.Second}
		b.Servers = of
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.request(t, everything{}, all(ofMain))
		settled(aMinute)
		shown := b.request(t, everything{}, all(ofMain)).Items[0]
		begun := time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := b.Scrapes(ctx, everything{}, ofMain, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
					t.Errorf("%v after %s", err, time.Since(begun))
				}
			})
		}
		wg.Wait()
		got, err := b.Scrapes(t.Context(), everything{}, ofMain, nil)
		checkScrapes(t, got, err, shown)
		if of.queries != 1 || time.Since(begun) != 3*time.Second {
			t.Errorf("%d queries, answered after %s", of.queries, time.Since(begun))
		}
	})
}

// acting is a caller for whom servers are queried.
type acting struct {
	everything
	of       *servers
	released int
	err      error
}

func (a *acting) Servers(context.Context) (preview.HealthSource, func(), error) {
	return a.of, func() { a.released++ }, a.err
}

// Without permissions that all callers have, servers are queried as each caller, and no result is kept for the next
// one.
func TestScrapesAsTheCaller(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.request(t, everything{}, all(ofMain))
		settled(aMinute)
		shown := b.request(t, everything{}, all(ofMain)).Items
		first, second := &acting{of: &servers{}}, &acting{of: &servers{}}
		for _, caller := range []*acting{first, second} {
			got, err := b.Scrapes(t.Context(), caller, ofMain, shown)
			checkScrapes(t, got, err, shown[0])
			if caller.of.queries != 1 || caller.released != 1 {
				t.Errorf("%d queries, released %d times", caller.of.queries, caller.released)
			}
			if other := got.Of(webJob, "http://10.0.0.9/metrics"); other.Health != "" {
				t.Errorf("keeps a target that is not shown: %+v", other)
			}
		}
		if _, err := b.Scrapes(t.Context(), everything{}, ofMain, shown); !apierrors.IsServiceUnavailable(err) {
			t.Errorf("a caller without credentials gets what is known of others: %v", err)
		}
		busy := &acting{of: &servers{}, err: apierrors.NewTooManyRequests("busy", 1)}
		if _, err := b.Scrapes(t.Context(), busy, ofMain, shown); !apierrors.IsTooManyRequests(err) || busy.of.queries > 0 {
			t.Errorf("%d queries: %v", busy.of.queries, err)
		}
	})
}
