package livetargets

import (
	"cmp"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

const (
	// memoryPart is the share (1/16) of process memory for followed workloads. A single workload
	// may exceed it.
	memoryPart = 16
	// crowdPart is the share (1/4) of process memory for the targets of all jobs.
	crowdPart = 4
	// crowdedFor is the time after which an evicted set may be followed again.
	crowdedFor = time.Minute
	// lately is how long a workload counts as in use after the last request for it.
	lately = 30 * time.Second
)

// hasMemory reports whether there is memory to follow a workload. If there is not, it evicts idle ones.
func (s *Source) hasMemory(of *workload) bool {
	most := s.Most
	if most == 0 {
		most = inflight.Memory() / memoryPart
	}
	if s.Fair {
		return s.hasShare(of, most)
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
	slices.SortFunc(others, func(a, b *workload) int { return cmp.Compare(a.lastRequest.Load(), b.lastRequest.Load()) })
	for _, w := range others {
		if taken <= most || now.Sub(time.Unix(0, w.lastRequest.Load())) < lately {
			break
		}
		taken -= w.bytes.Load()
		go w.drop() // in the background: the mutexes of both may be held
	}
	return taken <= most
}

// unreadPart is the part of the limit that a workload claims before it was read.
const unreadPart = 200

// hasShare reports whether a workload may be read: if there is not enough memory for all, namespaces have equal
// shares, and so have the workloads of one. A single workload may exceed the limit.
func (s *Source) hasShare(of *workload, most int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	claims, namespaces, total := map[catalog.Ref]int{}, map[string]int{}, int64(0)
	for ref, w := range s.workloads {
		n := w.claim.Load()
		if w == of && n == 0 {
			n = most / unreadPart
		}
		total += n
		namespaces[ref.Namespace] += int(n)
		if ref.Namespace == of.Namespace {
			claims[ref] = int(n)
		}
	}
	if total <= most || len(s.workloads) == 1 {
		return true
	}
	share := budget.Shares(namespaces, int(most))
	return claims[of.Ref] <= budget.Shares(claims, share)
}

// reclaim lets a workload for which there is no room try again after some time, because it may then be smaller.
func (w *workload) reclaim(now time.Time) {
	if w.claimed.IsZero() {
		w.claimed = now
	}
	if now.Sub(w.claimed) >= idle {
		w.claimed = now
		w.claim.Store(0)
	}
}

// refusal is the error of a workload for which there is no room.
func (s *Source) refusal() string {
	if s.Fair {
		return "its jobs take more than its share of the memory that there is for the jobs of all workloads: give more to the container, or divide the workload"
	}
	return "its targets are not followed now, because those of other workloads take the memory that there is for that: ask again in a minute, or use operator targets"
}

// readJobs compiles a workload if there is room for it.
func (w *workload) readJobs(c explain.Candidate, reading *clusterView, now time.Time) preview.Workload {
	refused := preview.Workload{Ref: w.Ref, Error: w.source.refusal()}
	if why := c.Unmanaged(); why != "" {
		return preview.Workload{Ref: w.Ref, Error: "it is not managed by this operator: " + why}
	}
	if !w.source.hasMemory(w) {
		w.reclaim(now)
		if w.stale = w.source.Fair && len(w.jobs) > 0; w.stale {
			return w.compiled // its targets are followed in their last state
		}
		return refused
	}
	w.stale, w.claimed = false, time.Time{}
	w.source.compiling.Lock() // limits the memory of concurrent compilations
	out := w.compiler.Read(c, reading.cluster)
	w.source.compiling.Unlock()
	w.bytes.Store(int64(w.compiler.Weight()))
	w.claim.Store(w.bytes.Load())
	if w.source.Fair && len(w.jobs) == 0 && !w.source.hasMemory(w) { // it was not followed yet
		w.reclaim(now)
		w.compiler.Close()
		w.bytes.Store(0)
		return refused
	}
	return out
}

// crowd returns the memory that the sets of all jobs share.
func (s *Source) crowd() *targetset.Budget {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Crowd == nil {
		s.Crowd = targetset.NewBudget(inflight.Memory() / crowdPart)
	}
	return s.Crowd
}

// isCrowded reports whether an evicted set should be followed again, because there may be memory now. A set that takes
// the share of other namespaces is evicted.
func (w *workload) isCrowded(s *set) bool {
	if !s.Evicted() {
		s.EvictOverShare()
		return false
	}
	if s.crowded.IsZero() {
		s.crowded = time.Now()
	}
	return time.Since(s.crowded) >= crowdedFor && s.Fits()
}
