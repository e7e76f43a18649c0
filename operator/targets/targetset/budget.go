package targetset

import (
	"maps"
	"sync"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// Budget limits the memory of many sets together. Namespaces of the objects with the jobs have equal
// shares; nil is no limit. It is safe for concurrent use.
type Budget struct {
	most int

	mu    sync.Mutex
	used  map[string]int // by namespace
	total int
}

// NewBudget returns a budget of this many bytes.
func NewBudget(most int64) *Budget { return &Budget{most: int(most), used: map[string]int{}} }

// Take reserves bytes for a namespace, or releases them if n is negative. It reports whether the namespace may have
// them.
func (r *Budget) Take(namespace string, n int) bool {
	if r == nil || n == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > 0 && r.total+n > r.most && r.above(namespace, n) {
		return false
	}
	r.total += n
	if r.used[namespace] += n; r.used[namespace] <= 0 {
		delete(r.used, namespace)
	}
	return true
}

// overShare reports whether a namespace exceeds its share of memory that does not suffice for all.
func (r *Budget) overShare(namespace string) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total > r.most && r.above(namespace, 0)
}

// above reports whether a namespace has more than its share with n more bytes.
func (r *Budget) above(namespace string, n int) bool {
	claims := maps.Clone(r.used)
	claims[namespace] += n
	return claims[namespace] > budget.Shares(claims, r.most)
}

// taken returns the number of bytes that are taken.
func (r *Budget) taken() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(r.total)
}

// free reports whether a namespace may have n bytes more.
func (r *Budget) free(namespace string, n int) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total+n <= r.most || !r.above(namespace, n)
}

// Approximate memory of the entries of a set and its observer, in bytes.
const (
	groupBytes  = 400 // a group
	targetBytes = 100 // a kept target
	shardBytes  = 60  // a shard that scrapes it
	spreadBytes = 36  // a shard of the job, for each group with kept targets
)

// bytes returns the approximate memory of a part, and of what observers keep of its group.
func (p *part) bytes(shards int) (n int) {
	if p == nil {
		return 0
	}
	n = groupBytes
	if len(p.kept) > 0 {
		n += spreadBytes * shards
	}
	for i := range p.kept {
		n += targetBytes + shardBytes*len(p.kept[i].holds)
	}
	return n
}
