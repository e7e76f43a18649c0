package manifests

import (
	"bytes"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// mostFaults is how many a text may have before the rest is not read.
const mostFaults = 1000

// Read is [LoadAll] of one text, which faults name as a file. What is behind many faults is not
// read.
func Read(name string, text []byte, kinds []*engine.Kind) (*Objects, []Fault) {
	r := reader{objects: newObjects(kinds), all: true, most: mostFaults}
	_ = r.tolerate(Fault{Place: Place{File: name}, Err: r.read(name, bytes.NewReader(text))}) // every error is a fault
	return r.objects, r.faults
}
