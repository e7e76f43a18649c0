package routing

import (
	"errors"

	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// Limits bound what a report costs. A small AlertmanagerConfig can make it expensive: thousands of routes that inherit a long
// list, or matchers that take long for each character of a label. 0 is no limit.
type Limits struct {
	Matching int // instructions of regular expressions that are executed, in the unit of [regexcost.Work]
	Bytes    int // size of the report as JSON, approximately
}

// Errors of reports beyond [Limits].
var (
	ErrMatching = errors.New("the regular expressions of the routes and inhibition rules take too long for labels with such long values")
	ErrBytes    = errors.New("the routes are too long with all that they inherit (receivers with their integrations, groupBy), and the values of the labels")
)

// spent is what a report has cost. Once that is beyond the limits, nothing is added to the report.
type spent struct {
	Limits
	matching, bytes int
	err             error
}

// over reports whether the report is beyond its limits.
func (s *spent) over() bool { return s.err != nil }

// grow charges what is added to the report: a number of values, and texts.
func (s *spent) grow(values int, texts ...string) {
	s.bytes += valueBytes * values
	for _, text := range texts {
		s.bytes += encodedBytes(text)
	}
	if s.Bytes > 0 && s.bytes > s.Bytes && s.err == nil {
		s.err = ErrBytes
	}
}

// valueBytes is the size of the name and the punctuation of a value.
const valueBytes = 20

// encodedBytes returns the size of a text in JSON.
func encodedBytes(text string) int {
	n := len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			n++
		case c < ' ' || c == '<' || c == '>' || c == '&':
			n += len(`\u0026`) - 1
		}
	}
	return n
}

// affords reports whether a matcher may be compared with labels, and charges it.
func (s *spent) affords(m *labels.Matcher, with Labels) bool {
	if s.Matching == 0 || m.Type != labels.MatchRegexp && m.Type != labels.MatchNotRegexp {
		return !s.over()
	}
	work := 1
	if parsed, err := regexcost.Parse("^(?:" + m.Value + ")$"); err == nil {
		work = regexcost.Work(parsed)
	}
	length := 1 + len(with[model.LabelName(m.Name)])
	if s.matching > s.Matching-min(s.Matching, work*length) && s.err == nil {
		s.err = ErrMatching
	}
	s.matching += work * length
	return !s.over()
}
