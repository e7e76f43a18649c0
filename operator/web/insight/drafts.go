package insight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Drafts are kept for the next part of the same file: of some workloads, for a while.
const (
	maxDrafts = 4
	keepDraft = time.Minute
	// maxDraftBytes bounds the compressed texts of all but the last.
	maxDraftBytes = 16 << 20
)

// drafts are those that were made last, at most one of each workload, and those that are being made.
type drafts struct {
	mu      sync.Mutex
	last    []*keptDraft // those that were made last are last
	running map[catalog.Ref]*keptDraft
}

// keptDraft is that of a workload at a time.
type keptDraft struct {
	of   *entry
	at   time.Time
	done chan struct{} // closed when it is made
	made *draft
	err  error
	size int // guarded by drafts.mu
}

// draftOf is the draft of a workload. That of an Alertmanager is made each time: it also depends on
// objects that it does not select. Of a workload that changes faster than it can be compiled, it is an older one after
// [longestReading], which says so.
//
// Errors: those of draft; the context has ended.
func (c *Cluster) draftOf(ctx context.Context, w *world, e *entry) (*draft, error) {
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
			isLate = true
			if old := c.drafts.finished(e.ref); old != nil {
				return old.outdated(), nil
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// makeDraft compiles the configuration of a workload.
func (c *Cluster) makeDraft(ctx context.Context, w *world, d *keptDraft) {
	defer close(d.done)
	defer func() {
		if p := recover(); p != nil {
			d.err = apierrors.NewInternalError(errors.New(panicked(p)))
		}
		c.drafts.finish(d)
	}()
	d.at = c.Now()
	d.made, d.err = c.draft(ctx, w, d.of)
}

// outdated is a draft that says when it was made.
func (d *keptDraft) outdated() *draft {
	out := *d.made
	out.stale = true
	out.unread = append(slices.Clone(out.unread), fmt.Sprintf("the configuration is as of %s: something has changed since, and compiling it takes longer than %s", d.at.UTC().Format(time.RFC3339), longestReading))
	return &out
}

// get returns the draft of an entry, or the one of its workload that is being made. If there is none, it starts making
// it.
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

// finished is the draft of a workload that was made last; nil if none is kept.
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

// finish keeps a draft that was made, instead of the one before, and drops others while they take too much.
func (s *drafts) finish(d *keptDraft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, d.of.ref)
	if d.err != nil {
		return
	}
	d.size = len(d.made.file)
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
