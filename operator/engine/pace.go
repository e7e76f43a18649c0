package engine

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

const (
	// paceBurst is the minimum number of writes of a workload's content without a pause.
	paceBurst = 5
	// paceCredit is the sum of pauses that a burst of more, smaller writes leaves out: about 25 of
	// 20 kB.
	paceCredit = 30 * time.Second
	// After a burst, each write costs one pacePause, plus one for every paceBytes written, up to
	// paceMost: that is the maximum time by which one tenant's loop of changes delays the changes
	// of others.
	pacePause = time.Second
	paceBytes = 100_000
	paceMost  = 15 * time.Second
)

// pace limits how fast the content of one workload is written. A user who may change one monitor
// causes a write of the complete configuration; a loop of changes would fill etcd. Changes during a
// pause are merged and written at its end. The zero value is ready to use.
type pace struct {
	due  time.Time                    // end of the pauses of all writes
	last [paceBurst - 1]time.Duration // pauses of the last writes, which the next write does not wait for
	next int                          // index of the oldest of them
	rest time.Time                    // earliest time for recompiling results that are not kept
}

// wrote records a write of the given number of bytes.
func (p *pace) wrote(now time.Time, bytes int) {
	pause := min(pacePause+pacePause*time.Duration(bytes)/paceBytes, paceMost)
	if p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(pause)
	p.last[p.next] = pause
	p.next = (p.next + 1) % len(p.last)
}

// wait returns the delay of the next write; 0 or less for none.
func (p *pace) wait(now time.Time) time.Duration {
	var last time.Duration
	for _, pause := range p.last {
		last += pause
	}
	return max(p.due.Add(-max(last, paceCredit)).Sub(now), p.rest.Sub(now))
}

// paced returns the delay of a workload's next reconciliation. Changes of the workload itself and
// its deletion are not delayed.
func (c *Controller) paced(key types.NamespacedName) time.Duration {
	w, ok := c.stores.workloads.get(key.Namespace, key.Name)
	if !ok || !c.manages(w) || w.GetDeletionTimestamp() != nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.memory[key]
	if s == nil || s.generation != w.GetGeneration() {
		return 0
	}
	return s.pace.wait(time.Now())
}

// notePace records the writes of a workload's content.
func (c *Controller) notePace(state *memory, generation int64, done []apply.Done) {
	bytes := 0
	for _, d := range done {
		if d.Change == apply.Created || d.Change == apply.Updated {
			bytes += contentBytes(d.Object)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	state.generation = generation
	if changesAny(done) {
		state.pace.wrote(time.Now(), bytes)
	}
}

// contentBytes returns the size of the content of a Secret or ConfigMap.
func contentBytes(o apply.Object) (n int) {
	switch o := o.(type) {
	case *corev1.Secret:
		for key, value := range o.Data {
			n += len(key) + len(value)
		}
	case *corev1.ConfigMap:
		for key, value := range o.Data {
			n += len(key) + len(value)
		}
	}
	return n
}
