package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// jobNames reports expressions that compare the label job with the name of a monitor whose job is called otherwise. It
// is about the rules and monitors of one workload.
func (l *linter) jobNames(view *nearmiss.View, w dryrun.Workload, all []fragments.Result, uses []nearmiss.Use) {
	isRule := func(v fragments.Result) bool { return v.Kind == catalog.PrometheusRule.Kind }
	if f := v1alpha1.CommonFields(w.Object); f == nil || hasOtherJobs(f) || !slices.ContainsFunc(all, isRule) {
		return
	}
	jobs := view.Jobs(uses)
	for _, v := range all {
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

// hasOtherJobs reports whether series of a workload may have jobs that its monitors do not define: of additional
// configurations, of scrape classes, or of received samples.
func hasOtherJobs(f *v1.CommonPrometheusFields) bool {
	return f.AdditionalScrapeConfigs != nil || f.EnableRemoteWriteReceiver || ptr.Deref(f.EnableOTLPReceiver, false) ||
		slices.ContainsFunc(f.ScrapeClasses, func(c v1.ScrapeClass) bool {
			return nearmiss.LabelsSetBy(c.RelabelConfigs, c.MetricRelabelConfigs).Has("job")
		})
}

// otherJob returns why a selector finds nothing: it compares job with the name of a monitor. Empty if it may find something.
func otherJob(selector []*labels.Matcher, jobs nearmiss.Jobs) string {
	for _, m := range selector {
		if m.Name != "job" {
			continue
		}
		values := []string{m.Value}
		if m.Type == labels.MatchRegexp {
			values = m.SetMatches() // none for other than alternatives
		} else if m.Type != labels.MatchEqual {
			continue
		}
		if slices.ContainsFunc(values, func(value string) bool { return jobs.Values[value] }) {
			continue
		}
		for _, value := range values {
			if j, is := jobs.Meant[value]; is {
				return fmt.Sprintf("no target has %s: the job of %s is %s: write job=%q", m, j.Monitor, j.From, j.Value)
			}
		}
	}
	return ""
}
