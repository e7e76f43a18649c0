package insight

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/configfile"
)

// Recent drafts are cached because clients request several pages of the same file.
const (
	maxDrafts = 4
	keepDraft = time.Minute
	// maxDraftBytes limits the compressed texts of all drafts except the most recent one.
	maxDraftBytes = 16 << 20
	// longestCompiling is the maximum time that a request waits for the first draft of a workload.
	longestCompiling = 10 * time.Second
)

// drafts caches recent drafts, at most one per workload, and deduplicates those that are in flight.
type drafts struct {
	mu      sync.Mutex
	last    []*keptDraft // the most recent one is last
	running map[catalog.Ref]*keptDraft
}

// keptDraft is a cached or running draft of a workload.
type keptDraft struct {
	of   *entry
	at   time.Time
	done chan struct{} // closed when made or err is set
	made *configfile.File
	err  error
	size int // guarded by drafts.mu
}

// draftOf returns the draft of a workload. The draft of an Alertmanager is not cached because it
// also depends on objects that it does not select. If a workload changes faster than it can be
// compiled, an older draft with a note is returned after [longestReading].
//
// Errors: those of draft; there is no older draft and compiling takes longer than
// [longestCompiling]; the context has ended.
func (c *Cluster) draftOf(ctx context.Context, w *snapshot, e *entry) (*configfile.File, error) {
	if e.candidate.Setup.Row == catalog.Alertmanager {
		return c.draft(ctx, w, e)
	}
	late := time.NewTimer(longestReading)
	defer late.Stop()
	for isLate := false; ; {
		d := c.drafts.get(e, func(d *keptDraft) { c.makeDraft(context.WithoutCancel(ctx), w, d) })
		select {
		case <-d.done:
			switch {
			case d.of == e:
				return d.made, d.err
			case isLate && d.err == nil:
				return d.outdated(), nil
			}
		case <-late.C:
			if old := c.drafts.finished(e.ref); old != nil {
				return old.outdated(), nil
			}
			if isLate {
				return nil, apierrors.NewServiceUnavailable("the configuration is still being compiled; try again")
			}
			isLate = true
			late.Reset(longestCompiling - longestReading)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// makeDraft compiles the configuration of a workload.
func (c *Cluster) makeDraft(ctx context.Context, w *snapshot, d *keptDraft) {
	defer close(d.done)
	defer func() {
		if p := recover(); p != nil {
			d.err = apierrors.NewInternalError(dryrun.Panicked(p))
		}
		c.drafts.finish(d)
	}()
	d.at = c.Now()
	d.made, d.err = c.draft(ctx, w, d.of)
}

// outdated returns a copy of the draft with a note that it is outdated.
func (d *keptDraft) outdated() *configfile.File {
	out := *d.made
	out.Stale = true
	out.Unread = append(slices.Clone(out.Unread), fmt.Sprintf("the configuration is as of %s: something has changed since, and compiling it takes longer than %s", d.at.UTC().Format(time.RFC3339), longestReading))
	return &out
}

// get returns the cached draft of an entry, or the draft of its workload that is in flight. If
// there is neither, it starts one.
func (s *drafts) get(e *entry, start func(*keptDraft)) *keptDraft {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.last {
		if d.of == e {
			return d
		}
	}
	if d := s.running[e.ref]; d != nil {
		return d
	}
	d := &keptDraft{of: e, done: make(chan struct{})}
	if s.running == nil {
		s.running = map[catalog.Ref]*keptDraft{}
	}
	s.running[e.ref] = d
	go start(d)
	return d
}

// finished returns the cached draft of a workload; nil if there is none.
func (s *drafts) finished(of catalog.Ref) *keptDraft {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.last {
		if d.of.ref == of {
			return d
		}
	}
	return nil
}

// finish replaces the cached draft of the workload and evicts others that exceed the limits.
func (s *drafts) finish(d *keptDraft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, d.of.ref)
	if d.err != nil {
		return
	}
	d.size = len(d.made.Compressed)
	s.last = append(slices.DeleteFunc(s.last, func(other *keptDraft) bool { return other.of.ref == d.of.ref }), d)
	s.last = s.last[max(0, len(s.last)-maxDrafts):]
	left := maxDraftBytes
	for i := len(s.last) - 2; i >= 0; i-- {
		if left -= s.last[i].size; left < 0 {
			s.last = slices.Delete(s.last, i, i+1)
		}
	}
	time.AfterFunc(keepDraft, func() { s.drop(d) })
}

func (s *drafts) drop(d *keptDraft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = slices.DeleteFunc(s.last, func(other *keptDraft) bool { return other == d })
}
