package targets

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const (
	// reportTimeout limits one request with a report.
	reportTimeout = 10 * time.Second
	// reportAttempts is the maximum number of attempts for a full report, watchAttempts for one about watched targets
	// only, and inventoryAttempts for an inventory. Replicas that are not the leader respond with 503, and those that
	// have just stopped do not respond.
	reportAttempts, watchAttempts, inventoryAttempts = 8, 3, 4
	// inventoryAgain is the time after which an inventory that the leader has not accepted is sent again. The service
	// waits 30 s for it.
	inventoryAgain = 5 * time.Second
)

// sender holds the times of reports and inventories.
type sender struct {
	*Client
	report, watch, inventory time.Time // of the next ones; zero: none
	sent                     time.Time // of the last report
	last                     targetreport.Report
}

// keepReported sends reports and inventories until ctx ends.
func (c *Client) keepReported(ctx context.Context) {
	s := sender{Client: c, report: time.Now().Add(c.reportPause())}
	for {
		s.wait(ctx)
		if ctx.Err() != nil {
			return
		}
		if s.reporter.watching.takeInventoryRequest() || due(s.inventory) {
			s.sendInventory(ctx)
		}
		full := due(s.report)
		if watching := s.reporter.watching.open(); full || watching && due(s.watch) {
			s.sendReport(ctx, full)
		} else if !watching {
			s.watch = time.Time{}
		}
	}
}

func due(at time.Time) bool { return !at.IsZero() && !time.Now().Before(at) }

// reportPause returns the time until the next full report.
func (c *Client) reportPause() time.Duration { return c.opts.Report - rand.N(c.opts.Report/10+1) }

// wait waits until the next report or inventory is due, or the service has requested one.
func (s *sender) wait(ctx context.Context) {
	next := s.report
	for _, at := range []time.Time{s.watch, s.inventory} {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-s.reporter.watching.news:
		s.watch = s.sent.Add(pollEvery)
	}
}

// sendReport sends a report if it is a full one, contains news, or the last one is too old.
func (s *sender) sendReport(ctx context.Context, full bool) {
	began, attempts := time.Now(), watchAttempts
	if full {
		attempts = reportAttempts
	}
	if _, known := s.list.current(); !known {
		s.report, s.watch = began.Add(s.reportPause()), began.Add(pollEvery)
		return
	}
	r, asked := s.reporter.report(ctx, began, full)
	took := time.Since(began)
	var err error
	if full || news(s.last, r) || time.Since(s.sent) >= watchReportEvery {
		s.store() // otherwise a restart could lose targets that the service removes from another shard meanwhile
		if err = s.postReport(ctx, r, attempts); err == nil {
			s.last = r
		}
		s.sent = time.Now()
		s.metrics.reports.Inc()
		if err != nil || !asked {
			s.metrics.reportsFailed.Inc()
			s.opts.Logger.Debug("Report to the discovery server failed", "asked", asked, "err", err)
		}
	}
	now := time.Now()
	s.watch = now.Add(max(pollEvery, pollShare*took))
	if full {
		s.metrics.disagreements.Set(float64(r.Disagreements()))
		s.report = now.Add(s.reportPause())
	}
	if s.report.Before(s.sent.Add(pollEvery)) {
		s.report = s.sent.Add(pollEvery)
	}
}

// news reports whether the service needs a report soon after the previous one.
func news(before, now targetreport.Report) bool {
	return before.Version != now.Version || before.Fetched != now.Fetched || before.Watch != now.Watch || before.Blind != now.Blind ||
		!slices.Equal(before.Scraped, now.Scraped)
}

// sendInventory sends an inventory. Servers of earlier releases never request one.
func (s *sender) sendInventory(ctx context.Context) {
	s.inventory = time.Time{}
	if every := s.opts.Inventory; every > 0 {
		s.inventory = time.Now().Add(every - rand.N(every/10+1))
	}
	text, err := s.reporter.inventory(ctx, time.Now())
	again, after := false, time.Duration(0) // if it is too large, so is the next one
	if err == nil {
		s.store()
		err = s.post(ctx, delivery{
			path: targetreport.InventoryPath, body: text, timeout: targetreport.InventoryTimeout, attempts: inventoryAttempts,
			header: http.Header{"Content-Type": {"application/x-ndjson"}, "Content-Encoding": {"gzip"}},
		})
		again, after = temporary(err)
	}
	s.metrics.inventories.Inc()
	if err != nil {
		s.metrics.inventoriesFailed.Inc()
		if again && s.reporter.watching.connected() { // the stream comes from the leader
			s.inventory = time.Now().Add(max(after, inventoryAgain))
		}
		s.opts.Logger.Debug("Inventory for the discovery server failed", "err", err)
	}
}

// delivery is a request to the leader.
type delivery struct {
	path     string
	header   http.Header
	body     []byte
	timeout  time.Duration // of each attempt
	attempts int
}

// postReport sends a report.
func (c *Client) postReport(ctx context.Context, r targetreport.Report, attempts int) error {
	body, err := r.Encode()
	if err != nil {
		return err
	}
	return c.post(ctx, delivery{
		path: targetreport.Path, body: body, timeout: reportTimeout, attempts: attempts,
		header: http.Header{"Content-Type": {"application/json"}},
	})
}

// post sends a request until the leader has accepted it, or no attempt is left.
func (c *Client) post(ctx context.Context, d delivery) error {
	for attempt := 1; ; attempt++ {
		err := c.postOnce(ctx, d)
		if reason := reasonOf(err); err == nil || reason != Unavailable && reason != Unreachable || attempt >= d.attempts || ctx.Err() != nil {
			return err
		}
		pause(ctx, firstPause+rand.N(firstPause))
	}
}

// temporary reports whether the same request may succeed later, and the earliest time for it, if the server sends one.
func temporary(err error) (again bool, after time.Duration) {
	if status, is := errors.AsType[*statusError](err); is {
		return reasonOf(err) == Unavailable || status.after > 0, status.after
	}
	return reasonOf(err) == Unreachable, 0
}

func (c *Client) postOnce(ctx context.Context, d delivery) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	resp, err := c.send(ctx, c.endpoint(d.path), d.header, d.body)
	if err != nil {
		return failf(Unreachable, "send to the discovery server: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return refusal(resp)
	}
	return nil
}

// sendBody sends a request with a body. The context limits its duration. Token and CA are reread each time.
func (c *Client) sendBody(ctx context.Context, u *url.URL, header http.Header, body []byte) (*http.Response, error) {
	client := reload.ClientOptions{Timeout: targetreport.InventoryTimeout, CAFile: c.opts.CAFile, BearerTokenFile: c.opts.TokenFile}
	return client.Post(ctx, u, header, body)
}
