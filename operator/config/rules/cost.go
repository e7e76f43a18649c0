package rules

import (
	"iter"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// FitCosts rejects files until the server of the others can hold their regular expressions and parse their expressions.
// The objects of one namespace may be thousands, each within the limits of one object.
func (fs Files) FitCosts() []share.LeftOut {
	left := fs.fit(func(f *Fragment) int { return f.Regexps }, budget.ServerRegexps, "%d instructions of regular expressions in rules, for which the server has memory")
	return append(left, fs.fit(func(f *Fragment) int { return f.Effort }, budget.ServerEffort, "%d words × bytes of expressions, which the server parses at each reload")...)
}

func (fs Files) fit(cost func(*Fragment) int, room budget.Room, full string) []share.LeftOut {
	total := 0
	for _, f := range fs {
		if f.Err == nil {
			total += cost(&f.Fragment)
		}
	}
	return share.Fit(total, len(fs), room, full, fs.costs(cost))
}

func (fs Files) costs(of func(*Fragment) int) iter.Seq[share.Cost] {
	return func(yield func(share.Cost) bool) {
		for i, f := range fs {
			if f.Err == nil && !yield(share.Cost{
				Namespace: f.Object.Namespace, Name: v1.PrometheusRuleKind + "/" + f.Object.Name, Amount: of(&f.Fragment),
				LeaveOut: func(why error) { fs[i] = f.LeftOut(why) },
			}) {
				return
			}
		}
	}
}
