package page

import (
	"net/url"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Maximum numbers on the overview.
const (
	maxGroups     = 10 // of problems that are not folded
	maxUnselected = 20
)

type overview struct {
	insight.Overview
	Attention attention
	Levels    []levelCount
	All       int    // workloads of all levels
	Level     string // of the filter
	// Changed is true if the time of a configuration change is known for a workload.
	Changed bool
	// MoreUnselected is the number of unselected objects that are not shown.
	MoreUnselected int
	First          bool // the first part of the list
	Filtered       bool
	Kinds          []string
	Spaces         []string // namespaces to suggest
}

// levelCount is the number of workloads of a level.
type levelCount struct {
	Level insight.Level
	Word  string
	Count int
}

func overviewPage(q *request) (*view, error) {
	if err := q.allow("q", "level", "kind", "namespace", "continue"); err != nil {
		return nil, err
	}
	query := insight.OverviewQuery{Page: q.part(), Namespace: q.query.Get("namespace")}
	var err error
	if query.Level, err = oneOf(q, "level", insight.Levels...); err != nil {
		return nil, err
	}
	if query.Kind, err = oneOf(q, "kind", workloadKinds()...); err != nil {
		return nil, err
	}
	answer, err := q.answers.Overview(q.Context(), q.rights, query)
	if err != nil || q.twin {
		return &view{Answer: answer}, err
	}
	v := q.view("overview", "Overview")
	v.Twins = []link{{"this page", v.twin(q.self())}}
	out := overview{Overview: *answer, First: q.query.Get("continue") == "", Kinds: kinds(), Level: string(query.Level)}
	out.Filtered = query.Filter+query.Kind+query.Namespace+out.Level != ""
	out.Attention = attentionOf(q.limit, answer.Groups, answer.AttentionTotal)
	for _, level := range []insight.Level{insight.LevelGood, insight.LevelBroken, insight.LevelWarning, insight.LevelOther} {
		n := answer.Levels[level]
		if out.All += n; n > 0 {
			out.Levels = append(out.Levels, levelCount{level, levelWord(level, n), n})
		}
	}
	out.Changed = slices.ContainsFunc(answer.Workloads, func(w insight.WorkloadRow) bool { return !w.ConfigSince.IsZero() })
	out.Unselected, _ = first(maxUnselected, answer.Unselected)
	out.MoreUnselected = answer.UnselectedTotal - len(out.Unselected)
	out.Spaces, _ = first(q.limit, answer.Namespaces)
	v.Data = out
	return v, nil
}

// levelOf returns the state of a workload in the table: the urgency of its problems, as in the summary above.
func levelOf(w insight.WorkloadRow) mark {
	if w.State == insight.NeedsAttention && w.Level != "" {
		return state(w.Level)
	}
	return state(w.State)
}

// levelWord returns the word for n workloads of a level.
func levelWord(l insight.Level, n int) string {
	switch {
	case l == insight.LevelWarning && n != 1:
		return "warnings"
	case l == insight.LevelOther:
		return "paused or not known"
	}
	return string(l)
}

// workloadKinds returns the kinds of workloads.
func workloadKinds() (out []string) {
	for _, row := range all {
		out = append(out, row.Kind)
	}
	return out
}

// kinds returns the kinds that have a page.
func kinds() (out []string) {
	for _, row := range catalog.All {
		if catalog.Of(row.Kind) == row {
			out = append(out, row.Kind)
		}
	}
	return append(out, "Pod")
}

// goPage redirects to the page of an object by its name or, without a whole name, to a list.
func goPage(q *request) (*view, error) {
	if err := q.allow("kind", "namespace", "name"); err != nil {
		return nil, err
	}
	kind, err := oneOf(q, "kind", kinds()...)
	if err != nil {
		return nil, err
	}
	o := catalog.Ref{Kind: kind, Namespace: q.query.Get("namespace"), Name: q.query.Get("name")}
	row := catalog.Of(kind)
	for _, p := range []string{"kind", "namespace", "name"} {
		switch v := q.query.Get(p); {
		case v == "" && (p == "kind" || row == nil):
			return nil, bad(p, "not given")
		case len(v) > maxName:
			return nil, bad(p, "longer than %d characters", maxName)
		case p != "kind" && v != "" && len(validation.IsDNS1123Subdomain(v)) > 0:
			return nil, bad(p, "not a name that an object can have")
		}
	}
	root := upward(&url.URL{Path: "/go"})
	if o.Namespace == "" || o.Name == "" {
		return &view{Location: root + row.Resource + q.with("kind", "", "name", "", "q", o.Name)}, nil
	}
	return &view{Location: pageOf(root, o)}, nil
}
