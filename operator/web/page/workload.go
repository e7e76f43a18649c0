package page

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// tab is one of the tables of a workload.
type tab struct {
	Name, Title string
	Current     bool
	Count       string // of rows in the tab; empty if that is unknown

	kinds  []*catalog.Row
	params []string
	// show returns the data of the template and the content of the twin.
	show func(*request, *insight.Workload) (data, answer any, err error)
}

var (
	all      = []*catalog.Row{catalog.Prometheus, catalog.PrometheusAgent, catalog.Alertmanager, catalog.ThanosRuler}
	scrapers = all[:2]
	tabs     = []tab{
		{Name: "feeds", Title: "Feeds", kinds: all, params: []string{"q", "state", "kind", "continue"}, show: feeds},
		{Name: "attention", Title: "Attention", kinds: all, show: problems},
		{Name: "pods", Title: "Pods", kinds: all, params: []string{"q", "continue"}, show: pods},
		{Name: "targets", Title: "Targets", kinds: scrapers, params: targetParams, show: workloadTargets},
		{Name: "shards", Title: "Shards", kinds: scrapers, params: []string{"shards"}, show: shards},
		{Name: "routes", Title: "Routes", kinds: []*catalog.Row{catalog.Alertmanager}, params: []string{"label"}, show: routes},
		{Name: "config", Title: "Config", kinds: all, params: []string{"q", "continue"}, show: config},
		{Name: "events", Title: "Changes", kinds: all, show: events},
	}
)

type workload struct {
	*insight.Workload
	Tabs []tab
	Tab  string
	Of   any // content of the tab
	// Unknown is why the tab is empty.
	Unknown string
}

// objectPage returns the page of a workload, or of an object that workloads select.
func objectPage(q *request) (*view, error) {
	if !q.of.IsWorkload() {
		return selectedPage(q)
	}
	have, at, err := tabsOf(q)
	if err != nil {
		return nil, err
	}
	ctx, o := q.Context(), q.of
	about, err := q.answers.Workload(ctx, q.rights, o)
	if err != nil {
		return nil, err
	}
	if q.twin && q.query.Get("tab") == "" {
		return &view{Answer: about}, nil
	}
	for i := range have {
		if have[i].Name == "attention" && about.AttentionTotal > 0 {
			have[i].Count = number(about.AttentionTotal)
		}
	}
	of, answer, err := at.show(q, about)
	v := q.view("workload", o.Ref().String())
	out := workload{Workload: about, Tabs: have, Tab: at.Name, Of: of}
	switch {
	case q.twin:
		return &view{Answer: answer}, err
	case apierrors.IsServiceUnavailable(err): // the rest of the page is available
		out.Unknown = "Unknown, because " + err.Error()
	case apierrors.IsConflict(err):
		out.Unknown = "None: " + err.Error()
	case apierrors.IsBadRequest(err) && of != nil:
		v.Code = 400 // the tab shows the reason
	case err != nil:
		return nil, err
	}
	v.Title += ", " + at.Title
	v.Crumbs = append(v.Crumbs, link{at.Title, q.with()})
	v.Twins = []link{{"this workload", v.twin("")}, {at.Title, v.twin(q.with("tab", at.Name))}}
	if c := q.query.Get("continue"); c != "" {
		v.Twins[1].Href += "&continue=" + c
	}
	if q.query.Get("health") != "" || q.query.Get("shards") != "" {
		v.Live = false // otherwise each refresh would query the servers, or evaluate all targets
	}
	v.Data = out
	return v, nil
}

// tabsOf returns the tabs of the workload, and the requested one.
func tabsOf(q *request) (have []tab, at tab, err error) {
	var names []string
	for _, t := range tabs {
		if slices.Contains(t.kinds, q.of.Row) {
			have, names = append(have, t), append(names, t.Name)
		}
	}
	name, err := oneOf(q, "tab", names...)
	if err != nil {
		return nil, tab{}, err
	}
	i := max(0, slices.Index(names, name))
	have[i].Current = true
	return have, have[i], q.allow(append([]string{"tab"}, have[i].params...)...)
}

// Mark returns the state, with the urgency of the problems if there are any.
func (w workload) Mark() mark {
	if w.State == insight.NeedsAttention && len(w.Attention) > 0 {
		return state(w.Attention[0].Urgency)
	}
	return state(w.State)
}

// Ready returns the number of ready pods.
func (w workload) Ready() (n int) {
	for _, p := range w.Pods {
		if p.Ready {
			n++
		}
	}
	return n
}

// Selected returns the number of objects in a state.
func (w workload) Selected(s status.State) (n int) {
	for _, of := range w.Counts {
		n += of[s]
	}
	return n
}

func problems(q *request, w *insight.Workload) (data, answer any, err error) {
	return attentionOf(q.limit, w.Groups, w.AttentionTotal), w, nil
}

// podsTab has the configuration that pods run.
type podsTab struct {
	*insight.Rollout
	Scrapes bool // the workload has targets
}

func pods(q *request, _ *insight.Workload) (data, answer any, err error) {
	out, err := q.answers.Rollout(q.Context(), q.rights, q.of, q.part())
	if err != nil {
		return nil, nil, err
	}
	return podsTab{out, slices.Contains(scrapers, q.of.Row)}, out, nil
}

// configTab has the configuration.
type configTab struct {
	*insight.Config
	Sections []section
}

// section is a part of the configuration, split into lines.
type section struct {
	insight.ConfigSection
	Lines []line
	More  int
	Open  bool // not folded
}

type line struct{ Text, Origin string }

// maxLines is the maximum number of lines of a section on a page.
const maxLines = 200

func config(q *request, _ *insight.Workload) (data, answer any, err error) {
	part := q.part()
	part.Limit = min(part.Limit, 40) // sections are longer than rows
	out, err := q.answers.Config(q.Context(), q.rights, q.of, insight.ConfigQuery{Page: part})
	if err != nil {
		return nil, nil, err
	}
	shown := configTab{Config: out}
	for _, s := range out.Sections {
		one := sectionOf(s, min(maxLines, 10*q.limit))
		one.Open = part.Filter != "" || len(out.Sections) == 1
		shown.Sections = append(shown.Sections, one)
	}
	return shown, out, nil
}

// eventsTab has the last changes and the Events, the last ones first.
type eventsTab struct {
	Deliveries []delivery
	Changes    []insight.Change
	Events     []status.Event
}

func events(q *request, w *insight.Workload) (data, answer any, err error) {
	out := eventsTab{Events: slices.Clone(w.Events)}
	slices.Reverse(out.Events)
	out.Events, _ = first(q.limit, out.Events)
	out.Changes, _ = first(q.limit, w.Changes)
	deliveries, _ := first(q.limit, w.Deliveries)
	for _, d := range deliveries {
		out.Deliveries = append(out.Deliveries, delivery{d})
	}
	return out, w, nil
}
