package offline

import (
	"bytes"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// Read is [LoadAll] of one text, which faults name as a file.
func Read(name string, text []byte, kinds []*engine.Kind) (*Objects, []Fault) {
	r := reader{objects: newObjects(kinds), all: true}
	_ = r.tolerate(Fault{Place: Place{File: name}, Err: r.read(name, bytes.NewReader(text))}) // every error is a fault
	return r.objects, r.faults
}
