package targets

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Version identifies a list: "LEADER-SEQUENCE".
type Version struct {
	text             string
	leader, sequence uint64
}

// maxVersion is the length of the longest version. A longer one, with zeros, would be stored with the list, and make each request
// for its changes too long.
const maxVersion = len("18446744073709551615-18446744073709551615")

// parseVersion reads a version.
//
// Errors: it is not two decimal numbers with a dash between, or longer than maxVersion.
func parseVersion(s string) (Version, error) {
	left, right, _ := strings.Cut(s, "-")
	leader, err1 := strconv.ParseUint(left, 10, 64)
	sequence, err2 := strconv.ParseUint(right, 10, 64)
	if err1 != nil || err2 != nil || len(s) > maxVersion {
		return Version{}, failf(Protocol, "version %.40q is not LEADER-SEQUENCE", s)
	}
	return Version{s, leader, sequence}, nil
}

// String returns the version as the server sent it, "" for no list.
func (v Version) String() string { return v.text }

// before reports whether a version is an earlier one than another.
func (v Version) before(w Version) bool {
	return v.leader < w.leader || v.leader == w.leader && v.sequence < w.sequence
}

// Limits bound a list. A list that exceeds them is rejected, and the previous one is kept.
type Limits struct {
	// Line is the maximum number of bytes of one line of the stream.
	Line int64
	// Group is the maximum number of bytes of one target group, which is the most that is in memory
	// uncompressed.
	Group int64
	// Packed and Plain are the maximum sizes of the list in bytes, compressed and uncompressed.
	Packed, Plain int64
	// Jobs is the maximum number of jobs.
	Jobs int
}

// LimitsFor returns the limits for a container with this memory limit in bytes; 0 means none. Up to three copies of the
// list exist: in memory, in the file, and one that replaces either. The discovery service sends at most 3 MiB with the
// same compression.
func LimitsFor(container int64) Limits {
	l := Limits{Line: 16 << 20, Group: 1 << 20, Packed: 8 << 20, Plain: 256 << 20, Jobs: 20_000}
	if container > 0 {
		l.Packed = min(l.Packed, container/10)
	}
	return l
}

// job is the list of one job. It is immutable once it is part of the list.
type job struct {
	packed []byte // gzip of the JSON array of groups
	plain  int64  // bytes of that JSON
	// since is the time at which it became part of the list, of which it has been part without interruption.
	since time.Time
}

// list holds the targets that the server has assigned to this pod. It is safe for concurrent use.
type list struct {
	mu      sync.RWMutex
	version Version
	jobs    map[string]*job // nil before the first list
	packed  int64
	plain   int64
	// changes counts changes of the list; saved is its value for the list in the file.
	changes, saved uint64
	// confirmed is the time at which the server last confirmed that the list is current, or the time of the file.
	confirmed time.Time
}

// current returns the version; known is whether there is a list.
func (l *list) current() (v Version, known bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.version, l.jobs != nil
}

// job returns the list of a job, or nil if it is unknown.
func (l *list) job(name string) *job {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.jobs[name]
}

// jobAt is like job, and also returns the version of the list.
func (l *list) jobAt(name string) (*job, Version) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.jobs[name], l.version
}

// confirm records that the list is current at this time.
func (l *list) confirm(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.confirmed = now
}

// size returns the sizes for the metrics.
func (l *list) size() (v Version, jobs int, packed int64, confirmed time.Time) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.version, len(l.jobs), l.packed, l.confirmed
}

// snapshot returns an immutable copy of the list.
func (l *list) snapshot() (Version, map[string]*job) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.version, maps.Clone(l.jobs)
}

// isSaved reports whether the file has the list.
func (l *list) isSaved() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.saved == l.changes
}

// update is an incomplete change of the list that is being received.
type update struct {
	to     Version
	full   bool
	jobs   map[string]*job // nil: the job is removed
	packed int64           // of the jobs received so far
	plain  int64
}

// add records the new list of a job, nil if the job is removed. An unchanged list shares memory with the previous one.
// Errors: the update exceeds the limits.
func (u *update) add(l *list, name string, j *job, limits Limits) error {
	if _, twice := u.jobs[name]; twice {
		return failf(Protocol, "job %.200q occurs twice in one update", name)
	}
	if j != nil {
		if old := l.job(name); old != nil && bytes.Equal(old.packed, j.packed) {
			j = old
		}
		u.packed += int64(len(j.packed))
		u.plain += j.plain
	}
	u.jobs[name] = j
	return limits.check(len(u.jobs), u.packed, u.plain)
}

// apply makes the update the current list.
//
// Errors: the result exceeds the limits; the list is then unchanged.
func (l *list) apply(u *update, limits Limits, now time.Time) error {
	next := u.jobs
	if !u.full {
		_, next = l.snapshot()
		for name, j := range u.jobs {
			if next[name] = j; j == nil {
				delete(next, name)
			}
		}
	}
	var packed, plain int64
	for _, j := range next {
		packed += int64(len(j.packed))
		plain += j.plain
	}
	if err := limits.check(len(next), packed, plain); err != nil {
		return err
	}
	for _, j := range u.jobs {
		if j != nil && j.since.IsZero() {
			j.since = now
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version, l.jobs, l.packed, l.plain, l.confirmed = u.to, next, packed, plain, now
	l.changes++
	return nil
}

func (l Limits) check(jobs int, packed, plain int64) error {
	for _, c := range []struct {
		what      string
		is, limit int64
	}{
		{"jobs", int64(jobs), int64(l.Jobs)},
		{"bytes, compressed", packed, l.Packed},
		{"bytes", plain, l.Plain},
	} {
		if c.is > c.limit {
			return &Error{TooLarge, fmt.Errorf("the list of targets has more than %d %s: it is refused and the last list stays; "+
				"use more shards, or a higher memory limit if the container has less than 80Mi", c.limit, c.what)}
		}
	}
	return nil
}
