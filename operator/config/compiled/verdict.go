package compiled

import (
	"io"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Verdict is one selected object, and why it is rejected.
type Verdict struct {
	Kind   string
	Object catalog.Object
	Err    error
	// Dropped names fields of the object that the version of the workload does not
	// support and that were left out.
	Dropped []string
	// Remarks are about values that are not used as written, for whoever asks: "spec.a: …".
	Remarks []string
	// File is the file that the object became; empty when it is a part of the
	// configuration.
	File string
	// Text is what the object became in the file or in the configuration; nil when it
	// is rejected.
	Text io.WriterTo
	// Jobs is the number of jobs that it became.
	Jobs int
}
