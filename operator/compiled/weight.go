package compiled

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/firekeeper-dev/firekeeper/operator/budget"
)

// inFlight holds what is compiled at the same time, of all owners and kinds: what
// compiling needs grows with the size of the objects, and machines with many CPUs have no
// more memory for the operator.
var inFlight = semaphore.NewWeighted(budget.CompiledBytes)

// weighed calls do once there is room for an object of its size. An object larger than all
// room is compiled alone.
func weighed(room *semaphore.Weighted, object any, do func()) {
	n := int64(budget.Size(object, budget.CompiledBytes))
	if err := room.Acquire(context.Background(), n); err != nil {
		return // never: the context does not end, and there is room for n
	}
	defer room.Release(n)
	do()
}
