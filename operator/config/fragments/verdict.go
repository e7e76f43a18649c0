package fragments

import (
	"io"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Verdict is the result of compiling one selected object.
type Verdict struct {
	Kind   string
	Object catalog.Object
	Err    error
	// Dropped lists fields of the object that were omitted because the version of the
	// workload does not support them.
	Dropped []gate.Dropped
	// Remarks are about values that are not used as written.
	Remarks []faults.Finding
	// File is the name of the file generated from the object; empty if it is a part of the configuration.
	File string
	// Text is the object's part of the file or configuration; nil if it is rejected.
	Text io.WriterTo
	// Jobs is the number of scrape jobs generated from the object.
	Jobs int
}
