package livetargets

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

const (
	// idle is how long a set is kept after the last request for it.
	idle = 10 * time.Minute
	// sweep is the interval between two searches for idle sets.
	sweep = time.Minute
	// patience is the maximum time that a request waits for data that has not been read yet.
	patience = 300 * time.Millisecond
)

// Source follows the targets of workloads. Its exported fields are set before its first use. It is
// safe for concurrent use.
type Source struct {
	// Reader reads workloads and the objects they select.
	Reader readers.Reader
	Setups []engine.Setup
	Scopes engine.Scopes
	// Options are the options of Prometheus and PrometheusAgent.
	Options prometheus.Options
	// Groups are the target groups of the cluster.
	Groups *watch.Cluster
	// Denied (optional) is a hint that is appended if permission to read groups is missing:
	// "deploy/components/... grants it".
	Denied string
	// Permissions (optional) reviews the permissions of the ServiceAccounts of workloads.
	Permissions Permissions
	// Servers (optional) reads the health of targets from running servers, with permissions that all callers
	// have. Without it, servers are queried with the permissions of the caller.
	Servers preview.HealthSource
	// Log (optional) logs faults of comparisons in the background.
	Log *slog.Logger
	// Observe (optional) is called for each set that begins, with the workload, the namespace of the object and the job. It returns
	// the observer of the set, and a function that is called after changes, throttled.
	Observe func(of catalog.Ref, namespace string, j *targets.Job) (observe targetset.Observer, changed func())
	// Most (optional) is the limit in bytes for all workloads; 0 for the default share of memory.
	Most int64
	// Crowd (optional) is the memory for the targets of all jobs, which the namespaces of their objects
	// share; nil for the default share of memory.
	Crowd *targetset.Budget
	// Fair is set if all workloads are followed permanently. Those above their share of Most are then not
	// reread, instead of those that come later.
	Fair bool

	requests atomic.Uint64
	reviews  reviews // for previews

	compiling sync.Mutex

	mu        sync.Mutex
	workloads map[catalog.Ref]*workload
	sweeper   *time.Timer
}

var _ insight.TargetSource = (*Source)(nil)

// of returns the state of a workload and creates it if needed. If the workload does not exist, open
// fails.
func (s *Source) of(ref catalog.Ref) *workload {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.workloads[ref]
	if w == nil {
		if s.workloads == nil {
			s.workloads = map[catalog.Ref]*workload{}
		}
		w = &workload{source: s, Ref: ref, compiler: preview.Compiler{Options: s.Options}, sets: map[*job]*set{}}
		s.workloads[ref] = w
	}
	w.lastRequest.Store(time.Now().UnixNano())
	if s.sweeper == nil {
		s.sweeper = time.AfterFunc(sweep, s.sweep)
	}
	return w
}

// sweep closes idle sets and removes idle workloads.
func (s *Source) sweep() {
	now := time.Now()
	s.mu.Lock()
	var gone []*workload
	var rest []*workload
	for ref, w := range s.workloads {
		if now.Sub(time.Unix(0, w.lastRequest.Load())) >= idle {
			delete(s.workloads, ref)
			gone = append(gone, w)
		} else {
			rest = append(rest, w)
		}
	}
	s.mu.Unlock()
	ended := false
	for _, w := range gone {
		ended = w.end(now, 0) || ended
	}
	for _, w := range rest {
		ended = w.end(now, idle) || ended
	}
	if ended {
		s.Groups.Close() // groups that are still used stay
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweeper = nil; len(s.workloads) > 0 {
		s.sweeper = time.AfterFunc(sweep, s.sweep)
	}
}

// drop stops following a workload. The next request for it starts over.
func (w *workload) drop() {
	w.mu.Lock()
	w.leave()
	w.mu.Unlock()
	w.end(time.Now(), 0)
	w.source.Groups.Close() // groups that are still used stay
}

// Close stops following all workloads.
func (s *Source) Close() {
	s.mu.Lock()
	all := s.workloads
	s.workloads = nil
	if s.sweeper != nil {
		s.sweeper.Stop()
		s.sweeper = nil
	}
	s.mu.Unlock()
	for _, w := range all {
		w.end(time.Now(), 0)
	}
	s.Groups.Close()
}

// setup returns the setup of a kind of workload that scrapes; ok is false for others.
func (s *Source) setup(kind string) (engine.Setup, bool) {
	at := slices.IndexFunc(s.Setups, func(setup engine.Setup) bool {
		return setup.Row.Kind == kind && slices.Contains(preview.Kinds, setup.Row)
	})
	if at < 0 {
		return engine.Setup{}, false
	}
	return s.Setups[at], true
}

// candidate reads a workload.
//
// Errors: it does not exist or cannot be read; its kind does not scrape.
func (s *Source) candidate(ctx context.Context, ref catalog.Ref) (explain.Candidate, error) {
	setup, ok := s.setup(ref.Kind)
	if !ok {
		return explain.Candidate{}, apierrors.NewBadRequest("a " + ref.Kind + " has no targets")
	}
	object, err := s.Reader.Get(ctx, setup.GroupVersionResource(), ref.Key())
	if err != nil {
		return explain.Candidate{}, err
	}
	return explain.Candidate{Setup: setup, Object: object.(v1.Workload)}, nil
}

// Counts implements [insight.TargetSource].
func (s *Source) Counts(ref catalog.Ref) *insight.TargetCounts {
	s.mu.Lock()
	w := s.workloads[ref]
	s.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.counts()
}

// size returns the numbers of followed workloads, sets and scraped targets.
func (s *Source) size() (workloads, sets, scraped int) {
	s.mu.Lock()
	all := make([]*workload, 0, len(s.workloads))
	for _, w := range s.workloads {
		all = append(all, w)
	}
	s.mu.Unlock()
	for _, w := range all {
		n, kept := w.size()
		sets, scraped = sets+n, scraped+kept
	}
	return len(all), sets, scraped
}
