package feed

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Shard identifies a list.
type Shard struct {
	Workload catalog.Ref
	// Number of the shard; [Retired] for all StatefulSets of a workload that scrape nothing.
	Number int
}

// Retired is the number of the list for shards that are kept after the workload was scaled down. All
// jobs in it are empty.
const Retired = -1

// Feed has the lists of all shards. It is safe for concurrent use.
type Feed struct {
	mu       sync.Mutex
	leader   uint64 // 0: does not lead
	seq      uint64
	lists    map[Shard]*list
	owners   map[types.NamespacedName]Owner // by StatefulSet; nil until they are known
	lead     chan struct{}                  // closed when leader changes
	requests map[catalog.Ref]*podRequests   // by workload
}

// New returns a Feed without lists that does not lead.
func New() *Feed {
	return &Feed{lists: map[Shard]*list{}, lead: make(chan struct{}), requests: map[catalog.Ref]*podRequests{}}
}

// Lead starts serving as the leader with this number; 0 stops serving.
func (f *Feed) Lead(number uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leader = number
	close(f.lead)
	f.lead = make(chan struct{})
}

// Leads reports whether it serves.
func (f *Feed) Leads() bool { return f.Leader() != 0 }

// Leader returns the number of the leader as which it serves; 0 if it does not.
func (f *Feed) Leader() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.leader
}

// Seq returns the sequence number of the last change of a list; 0 if there is no list.
func (f *Feed) Seq(of Shard) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.lists[of]; l != nil {
		return l.seq
	}
	return 0
}

// Apply changes the list of a shard, which it creates if needed. All changes become visible at once.
// It returns the jobs that are held from now on.
func (f *Feed) Apply(now time.Time, of Shard, changes []Change) []Suspicion {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	l := f.lists[of]
	if l == nil {
		l = newList(f.seq, now)
		f.lists[of] = l
	}
	return l.apply(now, f.seq, changes)
}

// Fit returns the jobs that must shrink so that the list of a shard fits after some changes, each with the
// fraction of its size that it may have. Otherwise, whole jobs are left out.
func (f *Feed) Fit(of Shard, changes []Change) map[string]float64 {
	for i := range changes {
		if changes[i].Line != nil {
			changes[i].pack() // without the mutex
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lists[of]
	if l == nil {
		l = &list{}
	}
	return excess(l.sizes(changes))
}

// Known returns the targets of a job in the lists of all shards of a workload.
func (f *Feed) Known(of catalog.Ref, job string) (out []model.LabelSet) {
	f.mu.Lock()
	var blocks []block
	for shard, l := range f.lists {
		if j := l.jobs[job]; shard.Workload == of && shard.Number != Retired && j != nil {
			blocks = append(blocks, j.block)
		}
	}
	f.mu.Unlock()
	seen := map[model.Fingerprint]bool{} // a target may be on all shards
	for _, b := range blocks {
		for _, labels := range b.targets() {
			if id := labels.Fingerprint(); !seen[id] {
				seen[id] = true
				out = append(out, labels)
			}
		}
	}
	return out
}

// Full reports whether the list of a shard has little room.
func (f *Feed) Full(of Shard) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	var total measure
	if l := f.lists[of]; l != nil {
		for _, j := range l.sizes(nil) {
			total.add(j.measure)
		}
	}
	return total.share() > fits*fits
}

// Release serves the lines that were held long enough, and returns their jobs by shard.
func (f *Feed) Release(now time.Time) map[Shard][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[Shard][]string{}
	for of, l := range f.lists {
		if jobs := l.release(now, f.seq+1); len(jobs) > 0 {
			f.seq++
			out[of] = jobs
		}
	}
	return out
}

// Drop removes the list of a shard. Its streams end.
func (f *Feed) Drop(of Shard) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.lists[of]; l != nil {
		delete(f.lists, of)
		close(l.changed)
	}
}

// Shards returns the shards of a workload that have lists, in order.
func (f *Feed) Shards(of catalog.Ref) (out []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for shard := range f.lists {
		if shard.Workload == of {
			out = append(out, shard.Number)
		}
	}
	slices.Sort(out)
	return out
}

// position is where a stream is.
type position struct {
	step    step
	more    bool          // step leads to a later version
	changed chan struct{} // closed when that may have changed
	lead    chan struct{} // closed when the leader changes
	request
}

// next returns the step of a client that has a version.
//
// Errors: this replica does not lead, or the shard has no list; the pod has another shard by now.
func (f *Feed) next(who caller, have Version) (out position, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := who.shard
	l := f.lists[of]
	out.lead, out.request = f.lead, f.requestTo(who)
	switch now, is := f.ownerOf(who.set); {
	case f.leader == 0:
		return out, later("another replica leads", time.Second)
	case is && now.Shard != of:
		return out, later("the pod has another list now", time.Second)
	case out.inventory:
		return out, nil
	case l == nil:
		return out, later(fmt.Sprintf("the targets of %s are not complete yet", of.Workload), 5*time.Second)
	}
	out.changed = l.changed
	out.step, out.more = l.step(f.leader, have)
	return out, nil
}

// Has reports whether a job is in a list.
func (f *Feed) Has(of Shard, job string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lists[of]
	return l != nil && l.jobs[job] != nil
}

// Jobs returns the names of the jobs in a list, sorted.
func (f *Feed) Jobs(of Shard) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lists[of]
	if l == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(l.jobs))
}
