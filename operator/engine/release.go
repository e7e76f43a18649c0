package engine

import (
	"math"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

const (
	// releaseRetries is the number of retries after which a deleted workload no longer waits for
	// objects whose status cannot be written: they would keep it, and its namespace, forever. It takes about a minute.
	releaseRetries = 8
	// outageRetries is the same for errors that are not of one object, which may pass: a missing permission, a webhook
	// that does not answer, an API server with faults. It takes about twelve minutes.
	outageRetries = 12
)

// release counts the attempts to remove a deleted workload from the statuses of objects.
type release struct {
	left  int // the fewest statuses that still had it
	tries int // failed attempts since then
}

// beginRelease starts to count the attempts of a deleted workload. Those to write its results do not delay them.
func (q *bindingsQueue) beginRelease(key types.NamespacedName) {
	if q.releases[key] == nil {
		q.releases[key] = &release{left: math.MaxInt}
		q.queue.Forget(key)
	}
}

// givesUp records a failed attempt to remove a workload from the statuses and reports whether no other one is made. left
// is the number of statuses that have it. While no API server can be reached, the workload could not be deleted either.
func (q *bindingsQueue) givesUp(key types.NamespacedName, left int, err error) bool {
	if informer.Away(err) {
		return false
	}
	r := q.releases[key]
	if left < r.left {
		r.left, r.tries = left, 0
	}
	r.tries++
	if bindings.OfObject(err) {
		return r.tries > releaseRetries
	}
	return r.tries > outageRetries
}
