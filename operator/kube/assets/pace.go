package assets

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// pacedReads and pacedTime limit the requests about the objects of one namespace, and the time for all of them, two
	// seconds at the default of --kube-api-qps.
	pacedReads = 200
	pacedTime  = 2 * time.Second
	// After stuckReconciliations that read mostly what had been read before, the next one may read stuckFactor times as much of the
	// namespace: contents that were evicted or have expired in between would never be there together.
	stuckReconciliations = 30
	stuckFactor          = 16
)

// errPostponed is the cause of a [ReadError] about an object that is not read now.
var errPostponed = errors.New("is read later: the namespace refers to many others that have changed")

// IsPostponed reports whether an object was not read because a [Pace] is used up.
func IsPostponed(err error) bool { return errors.Is(err, errPostponed) }

// Pace limits how long one reconciliation reads the objects of each namespace from the API server. A tenant may have thousands
// of small Secrets that change all the time, and all other objects of the workload wait while they are read one after another.
// The zero value is ready to use.
type Pace struct {
	mu   sync.Mutex
	used map[string]*spent
	last string
}

// spent records the reads of a namespace in a reconciliation.
type spent struct {
	reads, again int // again: reads of unchanged objects that were read before
	time         time.Duration
	postponed    bool
	stuck        int // consecutive reconciliations that read mostly the same, and did not get to the end
}

// Begin starts another reconciliation of the same workload.
func (p *Pace) Begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = ""
	for namespace, s := range p.used {
		if !s.postponed || 2*s.again < s.reads || s.stuck >= stuckReconciliations {
			delete(p.used, namespace)
			continue
		}
		*s = spent{stuck: s.stuck + 1}
	}
}

// usedUp reports whether no more objects are read in this reconciliation.
func (s *spent) usedUp() bool {
	factor := 1
	if s.stuck >= stuckReconciliations {
		factor = stuckFactor
	}
	return s.reads >= factor*pacedReads || s.time >= time.Duration(factor)*pacedTime
}

// Postponed returns a namespace with objects that were not read, or "".
func (p *Pace) Postponed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// begin reports whether an object of a namespace may be read now.
//
// again: it was read before and has not changed.
func (p *Pace) begin(namespace string, again bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.used[namespace]
	if s == nil {
		s = &spent{}
		if p.used == nil {
			p.used = map[string]*spent{}
		}
		p.used[namespace] = s
	}
	if s.usedUp() {
		p.last, s.postponed = namespace, true
		return false
	}
	s.reads++
	if again {
		s.again++
	}
	return true
}

func (p *Pace) end(namespace string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[namespace].time += took
}

// Paced is like [Cache.Reader], and postpones reads that exceed a pace: their errors are [IsPostponed] and [IsTemporary].
func (c *Cache) Paced(ctx context.Context, p *Pace) Reader { return cacheReader{c, ctx, p} }
