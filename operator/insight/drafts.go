package insight

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
)

// Drafts are kept for the next part of the same file: of some workloads, for a while.
const (
	maxDrafts = 4
	keepDraft = time.Minute
	// maxDraftBytes bounds the compressed texts of all but the last.
	maxDraftBytes = 16 << 20
)

// drafts are those that were made last.
type drafts struct {
	mu   sync.Mutex
	last []*keptDraft
}

// keptDraft is that of a workload about which nothing changed.
type keptDraft struct {
	of   *entry
	once sync.Once
	made *draft
	err  error
	size int // guarded by drafts.mu
}

// draftOf is the draft of a workload. That of an Alertmanager is made each time: it also depends on
// objects that it does not select.
//
// Errors: those of draft.
func (c *Cluster) draftOf(ctx context.Context, w *world, e *entry) (*draft, error) {
	if e.candidate.Setup.Row == catalog.Alertmanager {
		return c.draft(ctx, w, e)
	}
	d := c.drafts.of(e)
	d.once.Do(func() {
		d.made, d.err = c.draft(context.WithoutCancel(ctx), w, e)
		if d.err == nil {
			c.drafts.fit(d, len(d.made.file))
		}
	})
	if d.err != nil {
		c.drafts.drop(d)
	}
	return d.made, d.err
}

func (s *drafts) of(e *entry) *keptDraft {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.last {
		if d.of == e {
			return d
		}
	}
	d := &keptDraft{of: e}
	time.AfterFunc(keepDraft, func() { s.drop(d) })
	s.last = append(s.last, d)
	s.last = s.last[max(0, len(s.last)-maxDrafts):]
	return d
}

// fit notes the size of a draft that was made, and drops others while they take too much.
func (s *drafts) fit(d *keptDraft, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.size = size
	left := maxDraftBytes
	for i := len(s.last) - 1; i >= 0; i-- { // the last made are last
		if other := s.last[i]; other != d {
			if left -= other.size; left < 0 {
				s.last = slices.Delete(s.last, i, i+1)
			}
		}
	}
}

func (s *drafts) drop(d *keptDraft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = slices.DeleteFunc(s.last, func(other *keptDraft) bool { return other == d })
}
