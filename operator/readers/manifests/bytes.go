package manifests

import (
	"bytes"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// mostFaults is the number of faults after which reading stops.
const mostFaults = 1000

// Read is [LoadAll] for one text, which faults name as a file. It stops after too many faults.
func Read(name string, text []byte, kinds []*engine.Kind) (*Objects, []Fault) {
	r := reader{objects: newObjects(kinds), all: true, most: mostFaults}
	_ = r.tolerate(Fault{Place: Place{File: name}, Err: r.read(name, bytes.NewReader(text))}) // every error is a fault
	return r.objects, r.faults
}
