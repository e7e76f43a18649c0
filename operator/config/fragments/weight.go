package fragments

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
)

// limiter bounds the size and number of objects that are compiled concurrently, across all workloads and
// kinds. The memory for compiling grows with the size of the objects, and a small object may contain
// a regular expression that compiles to megabytes. The operator does not get more memory on machines
// with many CPUs.
type limiter struct {
	free  *semaphore.Weighted
	least int64 // weight of a small object
}

// inFlight is the limiter of the process.
var inFlight = sync.OnceValue(func() limiter { return newLimiter(inflight.Memory()) })

// newLimiter returns the limiter of a process with this memory limit in bytes.
func newLimiter(memory int64) limiter {
	return limiter{semaphore.NewWeighted(budget.CompiledBytes), budget.CompiledBytes / max(2, memory/budget.CompilationBytes)}
}

// weighed calls do once there is room for an object of its size. An object larger than the
// total is compiled alone.
func (r limiter) weighed(object any, do func()) {
	n := max(r.least, int64(budget.Size(object, budget.CompiledBytes)))
	if err := r.free.Acquire(context.Background(), n); err != nil {
		return // never happens: the context does not end, and n fits
	}
	defer r.free.Release(n)
	do()
}

// Weighted is a fragment that shares files with others.
type Weighted interface {
	// Weight returns the size of the fragment in bytes without its files, and the sizes of
	// its files by name.
	Weight() (bytes int, files map[string]int)
}

// weight is the memory size of a fragment.
type weight struct {
	bytes int
	files map[string]int
}

// mostWeighed is the size in bytes at which measuring a fragment stops.
const mostWeighed = 64 << 20

func weightOf(fragment any) weight {
	if f, ok := fragment.(Weighted); ok {
		bytes, files := f.Weight()
		return weight{bytes, files}
	}
	return weight{bytes: budget.Size(fragment, mostWeighed)}
}

// WeightOf returns the weight of a fragment whose files may be shared.
func WeightOf(fragment any, files map[string][]byte) (bytes int, lengths map[string]int) {
	bytes = budget.Size(fragment, mostWeighed)
	if len(files) == 0 {
		return bytes, nil
	}
	lengths = make(map[string]int, len(files))
	for name, content := range files {
		lengths[name] = len(content)
		bytes -= len(content)
	}
	return max(bytes, 0), lengths
}
