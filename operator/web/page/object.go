package page

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// selectedObject is the page of an object, with the results of workloads on it.
type selectedObject struct {
	*explain.Report
	Rows []resultRow // results of the workloads
	More int
	Tabs []tab
	Of   any // content of the tab; nil for workloads
	// Unknown is why the targets are unknown.
	Unknown string
	Accepts int
	// Scrapes is true if objects of the kind have targets.
	Scrapes bool
	Counts  *preview.Counts // of all workloads
	// Lines are the lines of the manifest around the field that gets the object rejected, or all
	// that there is room for.
	Lines     []manifestLine
	MoreLines bool
	Marked    int    // number of the line; 0 if the message names no field
	Message   string // why it is rejected
	Edit      editor
	Summary   string // of Counts; empty if they are unknown
	// Dropped are the numbers of targets that its own fields drop, Others that of those that its
	// selector does.
	Dropped map[string]int
	Others  int
}

// Selector returns the field with which workloads select objects of the kind.
func (o selectedObject) Selector() string {
	return "spec." + catalog.Of(o.Object.Kind).Field + "Selector"
}

// Example returns a kind that has the field.
func (o selectedObject) Example() string {
	if o.Object.Kind == catalog.AlertmanagerConfig.Kind {
		return "an " + catalog.Alertmanager.Kind
	}
	return "a " + catalog.Prometheus.Kind
}

// resultRow is the result of one workload, with the jobs of the object.
type resultRow struct {
	explain.Result
	State string
	Jobs  []insight.JobCounts
	Names []string // of jobs with unknown targets
}

// selectedPage returns the page of an object that workloads select.
func selectedPage(q *request) (*view, error) {
	have := []tab{{Name: "workloads", Title: "Workloads"}}
	names := []string{"workloads"}
	if scrapes(q.of.Row) {
		have, names = append(have, tab{Name: "targets", Title: "Targets"}), append(names, "targets")
	}
	at, err := oneOf(q, "tab", names...)
	if err != nil {
		return nil, err
	}
	params := []string{"tab", "edit"}
	if at == "targets" {
		params = append(params, targetParams...)
	}
	if err := q.allow(params...); err != nil {
		return nil, err
	}
	if q.twin && at == "targets" {
		_, answer, err := targetsOf(q.Context(), q, insight.TargetQuery{Of: q.of})
		return &view{Answer: answer}, err
	}
	report, err := q.answers.Explain(q.Context(), q.rights, q.of)
	if err != nil || q.twin {
		return &view{Answer: report}, err
	}
	out := &selectedObject{Report: report, Tabs: have, Scrapes: scrapes(q.of.Row)}
	v := q.view("object", q.of.Ref().String())
	v.Twins = []link{{"this object", v.twin("")}}
	if out.Scrapes {
		v.Twins = append(v.Twins, link{"its targets", v.twin(q.with("tab", "targets"))})
	}
	for i := range have {
		have[i].Current = have[i].Name == at || at == "" && i == 0
	}
	if at == "targets" {
		v.Title += ", Targets"
		v.Crumbs = append(v.Crumbs, link{"Targets", q.with()})
	}
	return v, out.fill(q, v, at)
}

// fill adds targets and results.
func (o *selectedObject) fill(q *request, v *view, at string) error {
	v.Data = o
	var found *insight.Targets
	if o.Scrapes {
		rows := q.limit
		if at != "targets" {
			q.limit = 1 // only the counts are needed
		}
		of, answer, err := targetsOf(q.Context(), q, insight.TargetQuery{Of: q.of})
		q.limit = rows
		switch {
		case apierrors.IsBadRequest(err):
			return err
		case err != nil:
			o.Unknown = err.Error()
		default:
			found = answer.(*insight.Targets)
			o.Counts, o.Summary = &found.Counts, summaryOf(found)
			o.Dropped, o.Others = bySelector(found.Counts.Dropped)
		}
		if at == "targets" && err == nil {
			o.Of = of
		}
	}
	o.results(q.limit, found)
	if at != "targets" {
		return o.manifest(q)
	}
	return nil
}

// results adds up to n rows, with the jobs of found (nil if they are unknown).
func (o *selectedObject) results(n int, found *insight.Targets) {
	shown, more := first(n, o.Report.Workloads)
	o.More = more
	for _, v := range o.Report.Workloads {
		if v.Accepted {
			o.Accepts++
		}
	}
	for _, v := range shown {
		row := resultRow{Result: v, State: resultState(v), Jobs: jobsOf(v.Workload, found)}
		if len(row.Jobs) == 0 {
			row.Names, _ = first(maxJobs, v.Jobs)
		}
		o.Rows = append(o.Rows, row)
	}
}

// jobsOf returns the first jobs of a workload, none if they are unknown.
func jobsOf(workload catalog.Ref, found *insight.Targets) (out []insight.JobCounts) {
	if found == nil {
		return nil
	}
	for _, j := range found.Jobs {
		if j.Workload == workload && len(out) < maxJobs {
			out = append(out, j)
		}
	}
	return out
}
