package fragments

import (
	"io"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Result is the result of compiling one selected object.
type Result struct {
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
	// Own compiles the object with the discovery and the sharding of the servers themselves, to explain
	// jobs whose targets only the discovery service finds. It returns nil if that fails. It is nil
	// itself if Text has both.
	Own func() []byte
	// Jobs is the number of scrape jobs generated from the object.
	Jobs int
}

// Texts returns Text and the text with the discovery and the sharding of the servers themselves, see
// Own. Without central discovery, they are the same.
//
// Errors: Text cannot be written.
func (v Result) Texts() (text, own string, err error) {
	var b strings.Builder
	if _, err := v.Text.WriteTo(&b); err != nil {
		return "", "", err
	}
	text = b.String()
	if v.Own != nil {
		if own := v.Own(); own != nil {
			return text, string(own), nil
		}
	}
	return text, text, nil
}
