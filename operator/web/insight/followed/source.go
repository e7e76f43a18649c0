package followed

import (
	"cmp"
	"context"
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
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

const (
	// idle is how long a set stays after the last question about it.
	idle = 10 * time.Minute
	// sweep is the pause between two searches for sets that nobody asks about.
	sweep = time.Minute
	// patience is how long a question waits for what is not read yet.
	patience = 300 * time.Millisecond
)

// Source knows targets. Its exported fields are set before its first use; it is safe for
// concurrent use.
type Source struct {
	// Reader reads workloads and what they select.
	Reader readers.Reader
	Setups []engine.Setup
	Scopes engine.Scopes
	// Options are those of Prometheus and PrometheusAgent.
	Options prometheus.Options
	// Groups are the target groups of the cluster.
	Groups *watch.Cluster
	// Denied (optional) says what to do where whoever reads the groups may not read all of
	// them: "deploy/components/… grants it".
	Denied string
	// Permissions (optional) knows what the ServiceAccounts of workloads may discover.
	Permissions Permissions

	questions atomic.Uint64
	reviews   reviews // for previews

	compiling sync.Mutex
	most      int64 // bytes that all workloads may take; 0 for a part of the memory

	mu        sync.Mutex
	workloads map[catalog.Ref]*workload
	sweeper   *time.Timer
}

var _ insight.TargetSource = (*Source)(nil)

// of returns what is known of a workload; refs of those that do not exist fail in open.
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
	w.asked.Store(time.Now().UnixNano())
	if s.sweeper == nil {
		s.sweeper = time.AfterFunc(sweep, s.sweep)
	}
	return w
}

// sweep ends what nobody has asked about for a while.
func (s *Source) sweep() {
	now := time.Now()
	s.mu.Lock()
	var gone []*workload
	var rest []*workload
	for ref, w := range s.workloads {
		if now.Sub(time.Unix(0, w.asked.Load())) >= idle {
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
		s.Groups.Close() // what is in use stays
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweeper = nil; len(s.workloads) > 0 {
		s.sweeper = time.AfterFunc(sweep, s.sweep)
	}
}

const (
	// memoryPart is the part of the memory of the process that what is followed may take, but for one
	// workload, which may take more.
	memoryPart = 16
	// lately is how long a workload is in use after the last question about it.
	lately = 30 * time.Second
)

// room reports whether there is memory to follow a workload, and evicts idle ones if there is not.
func (s *Source) room(of *workload) bool {
	most := s.most
	if most == 0 {
		most = inflight.Memory() / memoryPart
	}
	now, taken := time.Now(), int64(0)
	s.mu.Lock()
	var others []*workload
	for _, w := range s.workloads {
		if w != of && w.bytes.Load() > 0 {
			others = append(others, w)
			taken += w.bytes.Load()
		}
	}
	s.mu.Unlock()
	if taken <= most {
		return true
	}
	slices.SortFunc(others, func(a, b *workload) int { return cmp.Compare(a.asked.Load(), b.asked.Load()) })
	for _, w := range others {
		if taken <= most || now.Sub(time.Unix(0, w.asked.Load())) < lately {
			break
		}
		taken -= w.bytes.Load()
		go w.drop() // the mutexes of both may be held
	}
	return taken <= most
}

// drop ends a workload. The next question about it begins again.
func (w *workload) drop() {
	w.mu.Lock()
	w.leave()
	w.mu.Unlock()
	w.end(time.Now(), 0)
	w.source.Groups.Close() // what is in use stays
}

// Close ends everything.
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

// setup is that of a kind of workload that scrapes; ok is false for others.
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
// Errors: it does not exist, or cannot be read; its kind does not scrape.
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

// Size are the numbers of workloads, sets and targets that are followed.
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
