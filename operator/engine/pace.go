package engine

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

const (
	// paceBurst is how many writes of a workload's content follow one another without a
	// pause.
	paceBurst = 5
	// pacePause and paceBytes are the pause that each write costs after a burst: one
	// pause, and one more for every paceBytes of what was written, up to paceMost: that is
	// how long one tenant's loop of changes may hold back the changes of others.
	pacePause = time.Second
	paceBytes = 100_000
	paceMost  = 15 * time.Second
)

// pace bounds how fast the content of one workload is written. Whoever may change one
// monitor has all of a configuration written again; in a loop that would fill etcd. What
// comes in a pause is written at its end, in its latest state. The zero value is ready.
type pace struct {
	due  time.Time                    // when the pauses of all writes are over
	last [paceBurst - 1]time.Duration // pauses of the last writes, which the next does not wait for
	next int                          // index of the oldest of them
	rest time.Time                    // when what is not kept may be compiled again
}

// wrote notes a write of so many bytes.
func (p *pace) wrote(now time.Time, bytes int) {
	pause := min(pacePause+pacePause*time.Duration(bytes)/paceBytes, paceMost)
	if p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(pause)
	p.last[p.next] = pause
	p.next = (p.next + 1) % len(p.last)
}

// wait returns how long the next write has to wait; 0 or less when it need not.
func (p *pace) wait(now time.Time) time.Duration {
	wait := p.due.Sub(now)
	for _, pause := range p.last {
		wait -= pause
	}
	return max(wait, p.rest.Sub(now))
}

// paced returns how long a workload's next reconciliation has to wait. What its owners
// change of the workload itself does not wait, nor does its end.
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

// notePace notes what was written of a workload's content.
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

// contentBytes is what a Secret or ConfigMap holds.
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
