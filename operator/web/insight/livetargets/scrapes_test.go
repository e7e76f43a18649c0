package livetargets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// servers are two replicas that scrape the same target, and one that does not answer.
type servers struct{ asked int }

func (s *servers) Ask(_ context.Context, _ *preview.Workload, _ int) []preview.Asked {
	s.asked++
	target := func(health, message string) promapi.Answer {
		return promapi.Answer{Targets: []promapi.Target{{Job: webJob, URL: "http://10.0.0.2:80/metrics?token=s3cret", Health: health, LastError: message}}}
	}
	return []preview.Asked{
		{Pod: "a-0", Answer: target("up", "")}, {Pod: "a-1", Answer: target("down", "refused by http://me:s3cret@proxy/")},
		{Pod: "b-0", Answer: promapi.Answer{Err: errors.New("no answer")}},
	}
}

// The health of a target is the worst of all replicas. Servers are asked again after some seconds.
func TestScrapes(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bed) {
		if b.Asks() {
			t.Error("asks without permissions")
		}
		asked := &servers{}
		b.Servers = asked
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.ask(t, everything{}, all(ofMain))
		settled(aMinute)
		shown := b.ask(t, everything{}, all(ofMain)).Items[0]
		for i, want := range []int{1, 1, 2} {
			if i == 2 {
				settled(aMinute)
			}
			got, err := b.Scrapes(t.Context(), ofMain)
			if err != nil {
				t.Fatal(err)
			}
			is := got.Of(shown.Job, shown.URL)
			if is.Health != "down" || !strings.HasPrefix(is.Error, "refused by http://") || strings.Contains(is.Error, "s3cret") || asked.asked != want {
				t.Errorf("%s: %+v, asked %d times", shown.URL, is, asked.asked)
			}
			if text := fmt.Sprint(got.Pods); text != "[{a-0 1 0 0 } {a-1 0 1 0 } {b-0 0 0 0 no answer}]" {
				t.Error(text)
			}
		}
		if _, err := b.Scrapes(t.Context(), insight.Object{Row: ofMain.Row}); err == nil {
			t.Error("of no workload")
		}
	})
}
