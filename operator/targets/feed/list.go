package feed

import (
	"maps"
	"slices"
	"time"
)

// Change replaces a job in a list.
type Change struct {
	Job string
	// Namespace of the object with the job, for the limits of lists.
	Namespace string
	// Line is the line of the job, see [Targets.Line]; nil removes the job.
	Line []byte
	// Targets is the number of targets in the line.
	Targets int
	// Unexplained is true if targets may be missing without having been deleted in the cluster.
	Unexplained bool

	block *block // the line, once it was compressed
}

// pack returns the compressed line.
func (c *Change) pack() block {
	if c.block == nil {
		c.block = new(pack(c.Line))
	}
	return *c.block
}

// list is the list of one shard. It is not safe for concurrent use.
type list struct {
	jobs map[string]*listedJob
	// gone has the removed jobs, with the sequence number of their removal.
	gone map[string]uint64
	// floor is the sequence number from which on gone is complete.
	floor   uint64
	seq     uint64   // of the last change
	issued  []uint64 // the last sequence numbers, in order; those of other lists of a Feed are different ones
	since   time.Time
	targets int
	lost    losses
	changed chan struct{} // closed at the next change
}

// listedJob is a job in a list.
type listedJob struct {
	namespace string
	block     block
	targets   int
	at        uint64 // sequence number of its last change
	lost      losses
	tooLarge  bool // left out of the list
	held      *held
}

// held is the next state of a job whose targets are held.
type held struct {
	next  Change
	block block
	until time.Time
}

func newList(seq uint64, now time.Time) *list {
	return &list{jobs: map[string]*listedJob{}, gone: map[string]uint64{}, floor: seq, seq: seq, issued: []uint64{seq}, since: now, changed: make(chan struct{})}
}

// maxGone is the maximum number of removed jobs that a list remembers. A client with an older version
// gets a full list.
const maxGone = 1000

// maxIssued is the maximum number of versions of a list that are known. A client with an older one gets a full list.
const maxIssued = 1000

// apply makes changes, all of them as the version seq. It returns the jobs that it holds now.
func (l *list) apply(now time.Time, seq uint64, changes []Change) (suspicions []Suspicion) {
	lost := 0
	for i := range changes {
		if c := &changes[i]; c.Unexplained && c.Line != nil {
			lost += max(0, l.count(c.Job)-c.Targets)
		}
	}
	before := l.targets + l.lost.n
	all := lost > 0 && suspicious(before, l.lost.add(now, lost))
	moved := false
	for i := range changes {
		c := &changes[i]
		j := l.jobs[c.Job]
		switch {
		case c.Line == nil && j == nil:
		case c.Line == nil:
			l.remove(c.Job, seq)
			moved = true
		case j.keeps(now, c, all):
			if j.held == nil {
				j.held = &held{until: now.Add(holdFor)}
				suspicions = append(suspicions, Suspicion{c.Job, j.targets, c.Targets, j.held.until})
			}
			j.held.next, j.held.block = *c, c.pack()
			j.held.next.Line, j.held.next.block = nil, nil // only packed
		default:
			l.set(seq, c, c.pack())
			moved = true
		}
	}
	if moved {
		l.move(now, seq)
	}
	return suspicions
}

// count returns the number of targets of a job.
func (l *list) count(job string) int {
	if j := l.jobs[job]; j != nil {
		return j.targets
	}
	return 0
}

// keeps reports whether a job keeps its targets instead of a change. all is true if all unexplained
// losses are suspicious. j is nil for a new job.
func (j *listedJob) keeps(now time.Time, c *Change, all bool) bool {
	if j == nil {
		return false
	}
	lost := j.targets - c.Targets
	switch {
	case lost <= 0:
		return false
	case j.held != nil:
		return true
	case !c.Unexplained:
		return false
	}
	before := j.targets + j.lost.n
	return suspicious(before, j.lost.add(now, lost)) || all
}

// set replaces a job.
func (l *list) set(seq uint64, c *Change, b block) {
	j := l.jobs[c.Job]
	if j == nil {
		j = &listedJob{}
		l.jobs[c.Job] = j
	}
	l.targets += c.Targets - j.targets
	j.namespace, j.block, j.targets, j.at, j.held = c.Namespace, b, c.Targets, seq, nil
	delete(l.gone, c.Job)
}

func (l *list) remove(job string, seq uint64) {
	l.targets -= l.jobs[job].targets
	delete(l.jobs, job)
	l.gone[job] = seq
}

// move ends a version: it applies the limits of lists and wakes the streams.
func (l *list) move(now time.Time, seq uint64) {
	l.fit(seq)
	if len(l.gone) > maxGone {
		clear(l.gone)
		l.floor = seq
	}
	if seq != l.seq {
		l.issued = append(l.issued, seq)
	}
	if len(l.issued) > maxIssued {
		l.issued = slices.Delete(l.issued, 0, maxIssued/2)
	}
	l.seq, l.since = seq, now
	close(l.changed)
	l.changed = make(chan struct{})
}

// sizes returns the sizes of the jobs, after changes.
func (l *list) sizes(changes []Change) []sizedJob {
	changed := map[string]bool{}
	out := make([]sizedJob, 0, len(l.jobs))
	for i := range changes {
		c := &changes[i]
		changed[c.Job] = true
		if c.Line != nil {
			b := c.pack()
			out = append(out, sizedJob{c.Job, c.Namespace, measure{1, len(b.packed), b.plain}})
		}
	}
	for name, j := range l.jobs {
		if !changed[name] {
			out = append(out, sizedJob{name, j.namespace, measure{1, len(j.block.packed), j.block.plain}})
		}
	}
	return out
}

// fit leaves out the jobs that exceed the limits of lists.
func (l *list) fit(seq uint64) {
	left := map[string]bool{}
	for _, name := range exceeding(l.sizes(nil)) {
		left[name] = true
	}
	for name, j := range l.jobs {
		if j.tooLarge != left[name] {
			j.tooLarge, j.at = left[name], seq
		}
	}
}

// release serves the lines that were held long enough, and returns their jobs.
func (l *list) release(now time.Time, seq uint64) (jobs []string) {
	for _, name := range slices.Sorted(maps.Keys(l.jobs)) {
		j := l.jobs[name]
		if j.held == nil || now.Before(j.held.until) {
			continue
		}
		next, b := j.held.next, j.held.block
		j.lost = losses{}
		l.set(seq, &next, b)
		jobs = append(jobs, name)
	}
	if len(jobs) > 0 {
		l.lost = losses{}
		l.move(now, seq)
	}
	return jobs
}

// step is the difference between a version and the current one.
type step struct {
	to     Version
	from   Version // the zero value for a full list
	blocks []block // of jobs, by name
	gone   []string
}

// step returns the step from the version of a client to the current one; ok is false if the client has that
// already.
func (l *list) step(leader uint64, have Version) (s step, ok bool) {
	s.to = Version{leader, l.seq}
	_, known := slices.BinarySearch(l.issued, have.Seq)
	full := have.Leader != leader || have.Seq < l.floor || !known // possibly of the list that the client had before
	if !full && have.Seq == l.seq {
		return s, false
	}
	if !full {
		s.from = have
	}
	for _, name := range slices.Sorted(maps.Keys(l.jobs)) {
		switch j := l.jobs[name]; {
		case !full && j.at <= have.Seq:
		case !j.tooLarge:
			s.blocks = append(s.blocks, j.block)
		case !full:
			s.gone = append(s.gone, name)
		}
	}
	if full {
		return s, true
	}
	for _, name := range slices.Sorted(maps.Keys(l.gone)) {
		if l.gone[name] > have.Seq {
			s.gone = append(s.gone, name)
		}
	}
	return s, true
}
