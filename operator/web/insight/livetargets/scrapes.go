package livetargets

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// scrapesKept is how long the responses of servers are kept: they can be large.
const scrapesKept = 10 * time.Second

// scrapesWait is the timeout of queries to servers, less than that of a request: a server that does not respond
// must not withhold the responses of the others.
const scrapesWait = 5 * time.Second

// CanQuery implements [insight.ScrapeSource].
func (s *Source) CanQuery() bool { return s.Servers != nil }

// Scrapes implements [insight.ScrapeSource]. Concurrent requests for a workload share one query, unless servers
// are queried with the permissions of the caller.
func (s *Source) Scrapes(ctx context.Context, r access.Rights, of insight.Object, about []preview.Target) (*insight.Scrapes, error) {
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
	if s.Servers != nil {
		return w.scrapesOfAll(ctx, s.Servers, &compiled)
	}
	caller, is := r.(insight.Acting)
	if !is {
		return nil, apierrors.NewServiceUnavailable("there are no permissions to ask its servers with")
	}
	servers, release, err := caller.Servers(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	out := insight.NewScrapes(about)
	return out, query(ctx, out, servers, &compiled)
}

// scrapesOfAll queries servers with permissions that all callers have. Concurrent calls share the responses,
// and the query continues if one of their requests ends.
func (w *workload) scrapesOfAll(ctx context.Context, servers preview.HealthSource, compiled *preview.Workload) (*insight.Scrapes, error) {
	if last := w.scrapes.Load(); last != nil && time.Since(last.At) < scrapesKept {
		return last, nil
	}
	responses := w.scraping.DoChan("scrapes", func() (any, error) {
		out := &insight.Scrapes{}
		if err := query(context.WithoutCancel(ctx), out, servers, compiled); err != nil {
			return nil, err
		}
		w.scrapes.Store(out)
		return out, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case answer := <-responses:
		out, _ := answer.Val.(*insight.Scrapes)
		return out, answer.Err
	}
}

// query queries servers and adds their scrapes.
func query(ctx context.Context, to *insight.Scrapes, servers preview.HealthSource, of *preview.Workload) error {
	limited, cancel := context.WithTimeout(ctx, scrapesWait)
	defer cancel()
	pods := map[string]*insight.ScrapingPod{}
	pod := func(name string) *insight.ScrapingPod {
		if pods[name] == nil {
			pods[name] = &insight.ScrapingPod{}
		}
		return pods[name]
	}
	responses := servers.Health(limited, of, func(a *preview.ServerResponse, t promapi.Target) {
		to.Add(pod(a.Pod), t.Job, redact.URL(t.URL), insight.Scrape{
			Health: t.Health, Error: redact.Text(t.LastError), At: t.LastScrape, Took: time.Duration(t.Duration * float64(time.Second)).Round(100 * time.Microsecond),
		})
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, a := range responses {
		p := pod(a.Pod)
		p.Pod, p.Shard, p.Node = a.Pod, a.Shard, a.Node
		if a.Err != nil {
			p.Error = a.Err.Error()
		}
		to.Pods = append(to.Pods, *p)
	}
	to.At = time.Now()
	return nil
}
