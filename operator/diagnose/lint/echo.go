package lint

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// echo reports whether a finding is a consequence of an error in the manifest, because the
// faulty field is ignored: it is about that field, or about a field that contains it.
func (l *linter) echo(f Finding) bool {
	if f.Code == CodeField || f.Code == CodeInvalid || f.Field == "" {
		return false
	}
	if f.Code == CodeRejected && namesInterval.MatchString(f.Field) && slices.ContainsFunc(l.told[f.object()], definesIntervals.MatchString) {
		return true
	}
	timeout, of := strings.CutSuffix(f.Field, "scrapeTimeout") // it is compared with the interval, which is ignored
	return slices.ContainsFunc(l.told[f.object()], func(told string) bool {
		return within(told, f.Field) || within(f.Field, told) || of && f.Code != CodeRemark && (told == timeout+"interval" || told == timeout+"scrapeInterval")
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
