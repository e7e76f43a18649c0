package lint

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// isConsequence reports whether a finding is a consequence of an error in the manifest, because the
// faulty field is ignored: it is about that field, or about a field that contains it.
func (l *linter) isConsequence(f Finding) bool {
	if f.Code == CodeField || f.Code == CodeInvalid || f.Field == "" {
		return false
	}
	if f.Code == CodeRejected && namesInterval.MatchString(f.Field) && slices.ContainsFunc(l.faultyFields[f.object()], definesIntervals.MatchString) {
		return true
	}
	timeout, of := strings.CutSuffix(f.Field, "scrapeTimeout") // it is compared with the interval, which is ignored
	return slices.ContainsFunc(l.faultyFields[f.object()], func(field string) bool {
		return within(field, f.Field) || within(f.Field, field) || of && f.Code != CodeRemark && (field == timeout+"interval" || field == timeout+"scrapeInterval")
	})
}

var (
	// namesInterval matches the fields of routes that name time intervals, and definesIntervals those that define them.
	namesInterval    = lazyregexp.New(`\.(mute|active)TimeIntervals\[\d+\]$`)
	definesIntervals = lazyregexp.New(`(?i)time_?intervals$`)
)

// within reports whether field equals around or is nested in it.
func within(field, around string) bool {
	rest, inside := strings.CutPrefix(field, around)
	return inside && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
