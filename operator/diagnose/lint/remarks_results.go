package lint

import (
	"fmt"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// noResult returns why a server cannot evaluate a rule: its expression has another type than an instant vector or a number.
// Empty for the others.
func noResult(e parser.Expr) string {
	const fails = ", and a rule needs one sample for each series, so that each evaluation fails with \"rule result is not a vector or scalar\"; "
	switch e.Type() {
	case parser.ValueTypeMatrix:
		return "the result is a range of samples" + fails + "apply a function to it, such as rate(a[5m]) or max_over_time(a[5m])"
	case parser.ValueTypeString:
		return "the result is a string" + fails + "write the expression without these quotes"
	}
	return ""
}

// beginsAsText matches an expression that begins like a text.
var beginsAsText = lazyregexp.New("^\\s*[\"'`]")

// estimated returns why a comparison of a growth with a number is seldom true: rate and increase extrapolate to the whole
// range. Empty for other expressions.
func estimated(e *parser.BinaryExpr) string {
	operand, number := e.LHS, e.RHS
	if e.LHS.Type() == parser.ValueTypeScalar {
		operand, number = e.RHS, e.LHS
	}
	n, is := literal(number)
	call, grows := bare(operand).(*parser.Call)
	if !is || n == 0 || !grows || e.Op != parser.EQLC || call.Func.Name != "increase" && call.Func.Name != "rate" {
		return ""
	}
	if m, is := call.Args[0].(*parser.MatrixSelector); !is || widened(m) {
		return ""
	}
	return fmt.Sprintf("== %v is hardly ever true, because %s extrapolates from the first and last sample to the whole range, and the result is seldom an integer; write > 0, or another limit with > or >=", n, call.Func.Name)
}

// widened reports whether a range has a modifier, with which nothing is extrapolated.
func widened(m *parser.MatrixSelector) bool {
	v, is := m.VectorSelector.(*parser.VectorSelector)
	return !is || v.Anchored || v.Smoothed
}

// alertsName is the metric with the alerts of a server.
const alertsName = "ALERTS"

// alertNameRemarks reports names of alerts that an expression selects and no rule among the manifests has, although one has almost the same.
func (l *linter) alertNameRemarks(note says, queries []*query) {
	known := l.alertLabels()[model.AlertNameLabel]
	if known == nil || len(known.sorted) > maxRecorded {
		return
	}
	for _, q := range queries {
		if !alertSeries.MatchString(q.text) {
			continue
		}
		for _, selector := range q.selectors() {
			if name := nameIn(selector); name != alertsName && name != alertsName+"_FOR_STATE" {
				continue
			}
			for _, m := range selector {
				if m.Name != model.AlertNameLabel || m.Type != labels.MatchEqual || known.has[m.Value] {
					continue
				}
				if meant := l.likeAlert.of(m.Value, func() string { return noSibling(m.Value, manifest.Similar(m.Value, known.sorted)) }); meant != "" {
					note(q.path("expr"), "no rule among the manifests has alert: %s; one has alert: %s: did you mean that?", m.Value, meant)
				}
			}
		}
	}
}

// alertSeries matches text with the metric of alerts.
var alertSeries = lazyregexp.New(`\bALERTS\b`)
