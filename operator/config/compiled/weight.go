package compiled

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// inFlight bounds concurrent compilations across all owners and kinds. The memory for
// compiling grows with the size of the objects, and the operator does not get more memory
// on machines with many CPUs.
var inFlight = semaphore.NewWeighted(budget.CompiledBytes)

// weighed calls do once there is room for an object of its size. An object larger than the
// total is compiled alone.
func weighed(room *semaphore.Weighted, object any, do func()) {
	n := int64(budget.Size(object, budget.CompiledBytes))
	if err := room.Acquire(context.Background(), n); err != nil {
		return // never happens: the context does not end, and n fits
	}
	defer room.Release(n)
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
