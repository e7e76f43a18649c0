package livetargets

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// scrapesKept is how long the responses of servers are kept: they can be large.
const scrapesKept = 10 * time.Second

// scrapesWait is the maximum time to ask servers, less than that of a request: one that does not
// respond must not withhold the answers of the others.
const scrapesWait = 5 * time.Second

// Asks implements [insight.ScrapeSource].
func (s *Source) Asks() bool { return s.Servers != nil }

// Scrapes implements [insight.ScrapeSource]. Concurrent requests for a workload share one question.
func (s *Source) Scrapes(ctx context.Context, of insight.Object) (*insight.Scrapes, error) {
	w := s.of(of.Ref())
	if _, err := w.open(ctx, func(*job) bool { return false }); err != nil {
		return nil, err
	}
	w.mu.Lock()
	compiled := w.compiled
	w.mu.Unlock()
	if compiled.Error != "" {
		return nil, apierrors.NewServiceUnavailable(compiled.Error)
	}
	w.scraping.Lock()
	defer w.scraping.Unlock()
	if last := w.scrapes; last != nil && time.Since(last.At) < scrapesKept {
		return last, nil
	}
	out := &insight.Scrapes{}
	asking, cancel := context.WithTimeout(ctx, scrapesWait)
	defer cancel()
	for _, asked := range s.Servers.Ask(asking, &compiled, preview.AllShards) {
		pod := insight.ScrapingPod{Pod: asked.Pod}
		if asked.Err != nil {
			pod.Error = asked.Err.Error()
		}
		for _, t := range asked.Targets {
			out.Add(&pod, t.Job, preview.Masked(targets.Target{URL: t.URL}).URL, insight.Scrape{Health: t.Health, Error: preview.MaskedText(t.LastError)})
		}
		out.Pods = append(out.Pods, pod)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.At = time.Now()
	w.scrapes = out
	return out, nil
}
