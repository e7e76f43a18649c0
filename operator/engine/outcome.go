package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// outcome returns the report of a successful reconciliation: the finding that matters most to the user.
func (k *Kind) outcome(w v1.Workload, r results, plan Plan) Outcome {
	out := Outcome{Dropped: k.AllDropped(w, slices.Values(r.partial), plan.Dropped)}
	switch {
	case len(plan.unbound) > 0:
		out.Reason, out.Message = reasonClaimNotBound, strings.Join(slices.Concat(plan.unbound, plan.larger), "; ")
	case len(plan.larger) > 0:
		out.Reason, out.Message = reasonStorage, strings.Join(plan.larger, "; ")
	case plan.service != "":
		out.Reason, out.Message = reasonHeadless, plan.service
	case r.none() && !k.SelectsAtWill:
		out.Reason, out.Message = reasonNothingSelected, k.nothingSelected(w)
	case plan.Reason != "":
		out.Reason, out.Message = plan.Reason, plan.Message
	case len(out.Dropped) > 0:
		out.Reason, out.Message = reasonFieldsLeftOut, leftOut(out.Dropped)
	}
	return out
}

// nothingSelected returns a human-readable message with the kinds that a workload can select: "no ServiceMonitor, PodMonitor
// or Probe is selected".
func (k *Kind) nothingSelected(w v1.Workload) string {
	var rows []*catalog.Row
	for _, s := range k.Selects {
		if s.Never == nil || s.Never(w) == "" {
			rows = append(rows, s.Row)
		}
	}
	return "no " + catalog.Or(rows) + " is selected"
}

// maxListed bounds the number of left-out fields in a condition.
const maxListed = 20

func leftOut(dropped []string) string {
	rest := ""
	if n := len(dropped) - maxListed; n > 0 {
		dropped, rest = dropped[:maxListed], fmt.Sprintf("; and %d more", n)
	}
	return strings.Join(dropped, "; ") + rest
}
