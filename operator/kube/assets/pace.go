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

// spent is what the reads of a namespace have used.
type spent struct {
	reads int
	time  time.Duration
}

// Postponed returns a namespace of which objects were not read; "" if there is none.
func (p *Pace) Postponed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// begin reports whether an object of a namespace may be read now.
func (p *Pace) begin(namespace string) bool {
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
	if s.reads >= pacedReads || s.time >= pacedTime {
		p.last = namespace
		return false
	}
	s.reads++
	return true
}

func (p *Pace) end(namespace string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[namespace].time += took
}

// Paced is like [Cache.Reader], and postpones reads that exceed a pace: their errors are [IsPostponed] and [IsTemporary].
func (c *Cache) Paced(ctx context.Context, p *Pace) Reader { return cacheReader{c, ctx, p} }
