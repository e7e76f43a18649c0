package targets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// maxAssessed is the maximum number of active targets for which an inventory has details besides their presence in the list.
const maxAssessed = 100_000

// series is the metric with the number of series of a scrape. Prometheus writes it for each target, with the labels of
// the target.
const series = "scrape_samples_post_metric_relabeling"

// assessment has the data of Prometheus about the targets in the list.
type assessment struct {
	seed    maphash.Seed
	most    int                 // limits the entries of targets
	targets map[uint64]assessed // by job and address
	owners  map[uint64]uint64   // by labels, the keys of targets
	others  map[uint64]bool     // by job and address: targets of other jobs that are up
	agent   *agent              // nil for a server
}

// assessed are the active targets of a job with an address.
type assessed struct {
	series         uint64
	known, scraped bool
}

func newAssessment(seed maphash.Seed, most int) *assessment {
	return &assessment{seed: seed, most: most, targets: map[uint64]assessed{}, owners: map[uint64]uint64{}, others: map[uint64]bool{}}
}

// inventory returns the inventory for the service.
//
// Errors: it is too large.
func (r *reporter) inventory(ctx context.Context, now time.Time) ([]byte, error) {
	version, jobs := r.list.snapshot()
	a := newAssessment(r.seed, maxAssessed)
	err := a.query(ctx, r.prometheus, jobs, r.fetches.current(now))
	r.setBlind(err)
	var unsent *uint64
	switch {
	case err != nil: // a partial inventory is worse than none
		a.targets = nil
	case a.agent != nil:
		unsent = new(a.agent.unsent)
		up := a.up()
		a.share(r.agentSeries.divide(now, *a.agent, up))
	}
	var out bytes.Buffer
	r.seq++
	head := targetreport.Inventory{Version: version.String(), Boot: r.boot, Seq: r.seq, Blind: r.prometheus.Targets == nil || err != nil, Unsent: unsent}
	w, err := targetreport.NewInventoryWriter(&out, head)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		if err := a.write(w, name, jobs[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// query requests the targets and their series from Prometheus.
//
// Errors: Prometheus does not respond, or has too many targets.
func (a *assessment) query(ctx context.Context, p Prometheus, jobs map[string]*job, requested map[string]fetch) error {
	if p.Targets == nil {
		return nil
	}
	err := p.active(ctx, func(s activeTarget) error { return a.assess(s, jobs, requested) })
	if err != nil {
		return err
	}
	if len(a.owners) == 0 {
		a.queryAgent(ctx, p)
		return nil
	}
	if p.Query == nil {
		return nil
	}
	err = p.samples(ctx, series, func(labels map[string]string, value float64) error {
		delete(labels, "__name__")
		if key, ours := a.owners[a.labels(labels)]; ours && value >= 0 {
			one := a.targets[key]
			one.series, one.known = one.series+uint64(value), true
			a.targets[key] = one
		}
		return nil
	})
	if err != nil { // partial results are worse than none
		for key, one := range a.targets {
			a.targets[key] = assessed{scraped: one.scraped}
		}
	}
	if code, _ := errors.AsType[answerError](err); code == noQueries {
		a.queryAgent(ctx, p)
	}
	return nil
}

// assess adds one active target.
//
// Errors: there are too many targets; labels cannot be decoded.
func (a *assessment) assess(s activeTarget, jobs map[string]*job, requested map[string]fetch) error {
	name := s.job()
	j := jobs[name]
	if j == nil {
		if s.Health == "up" && len(a.others) < a.most {
			a.others[hashOf(a.seed, name, s.Discovered.Address)] = true
		}
		return nil
	}
	key := hashOf(a.seed, name, s.Discovered.Address)
	before, twice := a.targets[key]
	if len(a.targets) == a.most && !twice {
		return errors.New("there are too many targets for an inventory")
	}
	now := assessed{scraped: requested[name].job == j && s.LastScrape.After(j.since)}
	if twice {
		now.scraped = now.scraped && before.scraped
	}
	a.targets[key] = now
	if s.Health != "up" { // a failed scrape has no series
		return nil
	}
	var labels map[string]string
	if err := json.Unmarshal(s.Labels, &labels); err != nil {
		return err
	}
	a.owners[a.labels(labels)] = key
	return nil
}

// noQueries is the response of an agent to queries.
const noQueries = http.StatusUnprocessableEntity

// queryAgent requests the number of series of an agent. It is a no-op for a server, or an agent that does not respond.
func (a *assessment) queryAgent(ctx context.Context, p Prometheus) {
	if state, is, err := p.agent(ctx); err == nil && is {
		a.agent = &state
	}
}

// up returns the keys of all targets that are up.
func (a *assessment) up() map[uint64]bool {
	out := maps.Clone(a.others)
	for _, key := range a.owners {
		out[key] = true
	}
	return out
}

// share divides the number of series, if known, evenly among all targets that are up: an agent does not report
// the series of each target.
func (a *assessment) share(series uint64, known bool) {
	for _, key := range a.owners {
		one := a.targets[key]
		one.series, one.known = series, known
		a.targets[key] = one
	}
}

// labels returns a hash of labels that does not depend on their order.
func (a *assessment) labels(labels map[string]string) (sum uint64) {
	for name, value := range labels {
		sum += hashOf(a.seed, name, value)
	}
	return sum
}

// write writes a job.
func (a *assessment) write(w *targetreport.InventoryWriter, name string, j *job) error {
	var wrong error
	err := w.Job(name, func(yield func(string, targetreport.InventoryTarget) bool) {
		written, more := map[uint64]bool{}, true
		wrong = j.addresses(func(address string) {
			key := hashOf(a.seed, name, address)
			if written[key] || !more {
				return
			}
			written[key] = true
			var one targetreport.InventoryTarget
			if of, active := a.targets[key]; active {
				one.Scraped = of.scraped
				if of.known {
					one.Series = new(of.series)
				}
			}
			more = yield(address, one)
		})
	})
	return errors.Join(err, wrong)
}
