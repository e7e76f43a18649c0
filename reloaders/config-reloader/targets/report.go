package targets

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const (
	// compareAgain times the interval of reports is the time after which an unchanged list is compared
	// again.
	compareAgain = 5
	// confirmAfter is how long comparisons must find a disagreement until it is one.
	confirmAfter = 45 * time.Second
	// reportTimeout limits one request with a report.
	reportTimeout = 10 * time.Second
	// reportAttempts is the maximum number of attempts for one report. Replicas that do not lead respond
	// with 503.
	reportAttempts = 8
)

// reporter makes reports about how far Prometheus is with the list. Its methods but those of fetches must
// not be called concurrently.
type reporter struct {
	list       *list
	every      time.Duration
	prometheus Prometheus
	log        *slog.Logger
	fetches    fetches

	last *comparison // nil: none, or the last one failed
	at   time.Time   // of the last one
	told bool        // the log has the error of the last one
	// foreign is true if Prometheus ignores the parameter for one job, until this program restarts.
	foreign bool
}

// report returns the current report. ok is false if Prometheus does not answer.
func (r *reporter) report(ctx context.Context, now time.Time) (out targetreport.Report, ok bool) {
	version, jobs := r.list.snapshot()
	requested := r.fetches.current(now)
	maps.DeleteFunc(requested, func(name string, _ fetch) bool { return jobs[name] == nil })
	ok = r.update(ctx, now, jobs, requested)
	out = targetreport.Report{Version: version.String(), Requested: len(requested)}
	if r.last != nil {
		out.Age = new(int(now.Sub(r.at).Seconds()))
	}
	for _, name := range slices.Sorted(maps.Keys(requested)) {
		one := targetreport.Job{Job: name}
		if f := requested[name]; f.job != jobs[name] {
			one.Fetched = f.version.String()
		}
		of := r.last.of(name, jobs[name])
		if one.Pending = of == nil; of != nil {
			one.Served, one.Active = of.served, of.active
			one.Dropped, one.Missing, one.Unlisted = of.suspects[targetreport.Dropped].confirmed(r.at), of.suspects[targetreport.Missing].confirmed(r.at), of.suspects[targetreport.Unlisted].confirmed(r.at)
			out.Compared++
			out.Served += of.served
			out.Active += of.active
		}
		if one.Pending || one.Served != one.Active || one.Disagreements() > 0 {
			out.Jobs = append(out.Jobs, one)
		}
	}
	return out, ok
}

// update compares jobs that Prometheus has requested for long enough, unless the last comparison is still
// valid for all of them.
func (r *reporter) update(ctx context.Context, now time.Time, jobs map[string]*job, requested map[string]fetch) (ok bool) {
	_, _, _, confirmed := r.list.size()
	if r.prometheus.Targets == nil || now.Sub(confirmed) > silence {
		r.last = nil // the list may be outdated
		return true
	}
	comparable := map[string]*job{}
	again := r.last == nil || now.Sub(r.at) >= compareAgain*r.every
	for name, f := range requested {
		if f.job != jobs[name] || now.Sub(f.since) < settled {
			continue
		}
		comparable[name] = f.job
		of := r.last.of(name, f.job)
		again = again || of == nil || of.disagrees()
	}
	if !again || len(comparable) == 0 {
		return true
	}
	next, err := compare(ctx, comparable, r.prometheus, !r.foreign)
	if err != nil {
		if !r.told {
			r.log.Warn("The targets of Prometheus cannot be compared with the list of targets", "err", err)
		}
		r.told, r.last = true, nil
		return false
	}
	r.told, r.foreign = false, r.foreign || next.foreign
	// What changed in the meantime was not compared with the same list.
	_, jobs = r.list.snapshot()
	maps.DeleteFunc(next.jobs, func(name string, of *compared) bool { return jobs[name] != of.job })
	for name, of := range next.jobs {
		before := map[targetreport.Kind]suspects{}
		if b := r.last.of(name, nil); b != nil {
			before = b.suspects
		}
		for _, kind := range targetreport.Kinds {
			of.suspects[kind] = before[kind].follow(now, of.targets(kind))
		}
	}
	r.last, r.at = next, now
	return true
}

// of returns the result for a job with this list, nil for any list. It may be called for a nil receiver.
func (c *comparison) of(name string, j *job) *compared {
	if c == nil {
		return nil
	}
	if of := c.jobs[name]; of != nil && (j == nil || of.job == j) {
		return of
	}
	return nil
}

func (of *compared) disagrees() bool {
	return of.dropped != nil || of.missing != nil || of.unlisted != nil
}

func (of *compared) targets(kind targetreport.Kind) *targetreport.Targets {
	return (&targetreport.Job{Dropped: of.dropped, Missing: of.missing, Unlisted: of.unlisted}).Of(kind)
}

// suspects are the targets of one kind that all comparisons have found since a time.
type suspects struct {
	since time.Time
	*targetreport.Targets
}

// follow returns the suspects after a comparison at a time, which were these before it.
func (s suspects) follow(now time.Time, found *targetreport.Targets) suspects {
	if found == nil {
		return suspects{}
	}
	next := suspects{now, found}
	if s.Targets == nil {
		return next
	}
	both := &targetreport.Targets{Count: min(s.Count, found.Count), Names: slices.DeleteFunc(slices.Clone(found.Names), func(name string) bool {
		return !slices.Contains(s.Names, name)
	})}
	if len(both.Names) == 0 && both.Count <= targetreport.MaxTargets {
		return next
	}
	return suspects{s.since, both}
}

// confirmed returns the targets if they were found for long enough. Prometheus and the discovery service do not see a
// change at the same time, and one of them may have to connect to the API server again.
func (s suspects) confirmed(now time.Time) *targetreport.Targets {
	if s.Targets == nil || now.Sub(s.since) < confirmAfter {
		return nil
	}
	return s.Targets
}

// keepReported sends reports until ctx ends.
func (c *Client) keepReported(ctx context.Context) {
	for {
		pause(ctx, c.opts.Report-rand.N(c.opts.Report/10+1))
		if ctx.Err() != nil {
			return
		}
		if _, known := c.list.current(); !known {
			continue
		}
		r, compared := c.reporter.report(ctx, time.Now())
		c.metrics.disagreements.Set(float64(r.Disagreements()))
		err := c.deliver(ctx, r)
		c.metrics.reports.Inc()
		if err != nil || !compared {
			c.metrics.reportsFailed.Inc()
			c.opts.Logger.Debug("Report to the discovery server failed", "compared", compared, "err", err)
		}
	}
}

// deliver sends a report to the replica that leads.
func (c *Client) deliver(ctx context.Context, r targetreport.Report) error {
	body, err := r.Encode()
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := c.deliverOnce(ctx, body)
		if reasonOf(err) != Unavailable || attempt == reportAttempts || ctx.Err() != nil {
			return err
		}
		pause(ctx, firstPause+rand.N(firstPause))
	}
}

func (c *Client) deliverOnce(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	resp, err := c.send(ctx, c.endpoint(targetreport.Path), body)
	if err != nil {
		return failf(Unreachable, "send a report to the discovery server: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return refusal(resp)
	}
	return nil
}

// post sends a request with a body. Token and CA are read each time.
func (c *Client) post(ctx context.Context, u *url.URL, body []byte) (*http.Response, error) {
	client := reload.ClientOptions{Timeout: reportTimeout, CAFile: c.opts.CAFile, BearerTokenFile: c.opts.TokenFile}
	return client.Post(ctx, u, http.Header{"Content-Type": {"application/json"}}, body)
}
