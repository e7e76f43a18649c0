package promconfig

import (
	"errors"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

var errRelabelWork = errors.New("the relabelings of the object up to this one take too long for long labels, and the targets of all other jobs wait for them: " +
	"use fewer repetitions such as (.*){10} in regex, fewer alternatives after .*, and fewer sourceLabels")

// checkWork charges the time that steps take for one target or sample to the object. Prometheus has no limit, and changes
// the targets of all jobs, and its configuration, when the steps of each job are done: (.*,?){1000} takes 40 s for an annotation
// of 200 kB. steps must be valid.
//
// Errors: "[index]: ...".
func (r relabelRules) checkWork(steps []v1.RelabelConfig) error {
	if r.work == nil {
		return nil
	}
	g := newGrowth()
	for i := range steps {
		if *r.work += g.work(&steps[i]); *r.work > budget.RelabelWork {
			return faults.At(faults.Index("", i), errRelabelWork)
		}
		g.add(&steps[i])
	}
	return nil
}

// work returns about how many instructions a step executes for a character of a label.
func (g *growth) work(c *v1.RelabelConfig) int {
	each := 1
	if c.Regex != "" && !isWord(c.Regex) {
		each = regexcost.Work(regexOf(c))
	}
	switch strings.ToLower(c.Action) {
	case "labelmap", "labeldrop", "labelkeep":
		return each * g.total // the names of all labels
	}
	return each * max(1, g.joined(c))
}
