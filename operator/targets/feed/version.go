package feed

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is the version of a list. The zero value means none.
type Version struct {
	// Leader is the number of the leader that counts Seq.
	Leader, Seq uint64
}

// String returns L-SEQ.
func (v Version) String() string { return fmt.Sprintf("%d-%d", v.Leader, v.Seq) }

// parseVersion parses L-SEQ, or "" as the zero value. ok is false for any other text.
func parseVersion(s string) (v Version, ok bool) {
	if s == "" {
		return v, true
	}
	leader, seq, _ := strings.Cut(s, "-")
	var err, wrong error
	v.Leader, err = strconv.ParseUint(leader, 10, 64)
	v.Seq, wrong = strconv.ParseUint(seq, 10, 64)
	if err != nil || wrong != nil {
		return Version{}, false
	}
	return v, true
}
