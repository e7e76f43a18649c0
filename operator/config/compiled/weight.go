package compiled

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
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

// Weighted is a fragment that has something in common with others.
type Weighted interface {
	// Weight is how many bytes it takes alone, and the bytes of its files by their names.
	Weight() (bytes int, files map[string]int)
}

// weight is what a fragment takes in memory.
type weight struct {
	bytes int
	files map[string]int
}

// mostWeighed is where the size of a fragment stops to be counted.
const mostWeighed = 64 << 20

func weightOf(fragment any) weight {
	if f, ok := fragment.(Weighted); ok {
		bytes, files := f.Weight()
		return weight{bytes, files}
	}
	return weight{bytes: budget.Size(fragment, mostWeighed)}
}

// WeightOf is the weight of a fragment of which some files are no others'.
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
