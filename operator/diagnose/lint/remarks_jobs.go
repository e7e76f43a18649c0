package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"
)

// jobNames reports expressions that compare the label job with the name of a monitor whose job is called otherwise. It
// is about the rules and monitors of one workload.
func (l *linter) jobNames(view *nearmiss.View, m made) {
	jobs := view.Jobs(static.Uses(m.workload, m.outcome))
	if f := v1alpha1.CommonFields(m.workload.Object); len(jobs) == 0 || f == nil || f.AdditionalScrapeConfigs != nil {
		return
	}
	for _, v := range m.outcome.Verdicts {
		r, is := v.Object.(*v1.PrometheusRule)
		if !is || v.Err != nil {
			continue
		}
		for _, q := range queriesOf(r) {
			if !strings.Contains(q.text, "job") {
				continue
			}
			for _, selector := range q.selectors() {
				if why := otherJob(selector, jobs); why != "" {
					l.note(Finding{Kind: v.Kind, Namespace: r.Namespace, Name: r.Name})(q.path("expr"), "%s", why)
				}
			}
		}
	}
}

// otherJob returns why a selector finds nothing: it compares job with the name of a monitor. Empty if it may find something.
func otherJob(selector []*labels.Matcher, jobs []nearmiss.Job) string {
	for _, m := range selector {
		if m.Name != "job" || m.Type != labels.MatchEqual || slices.ContainsFunc(jobs, func(j nearmiss.Job) bool { return slices.Contains(j.Values, m.Value) }) {
			continue
		}
		for _, j := range jobs {
			if slices.Contains(j.Names, m.Value) {
				return fmt.Sprintf("no target has %s: the job of %s is the name of the Service, or the value of jobLabel: write job=%q", m, j.Monitor, j.Values[0])
			}
		}
	}
	return ""
}
