package page

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// objectList is the page with the objects of a kind.
type objectList struct {
	*insight.ObjectList
	Title    string
	States   []status.State
	Filtered bool
	Why      bool     // a row has a message
	Spaces   []string // namespaces to suggest
}

// listPage returns the objects of a kind; for workloads, it redirects to the overview.
func listPage(q *request) (*view, error) {
	row := rowOf(strings.TrimSuffix(q.PathValue("resource"), ".json"))
	if row == nil {
		return noPage(q)
	}
	if err := q.allow("q", "namespace", "state", "continue"); err != nil {
		return nil, err
	}
	if row.IsWorkload() {
		return &view{Location: upward(q.URL) + q.with("kind", row.Kind, "state", "")}, nil
	}
	states := []status.State{status.Accepted, status.Rejected, status.NotSelected, status.Unknown}
	state, err := oneOf(q, "state", states...)
	if err != nil {
		return nil, err
	}
	query := insight.ObjectQuery{Page: q.part(), Row: row, Namespace: q.query.Get("namespace"), State: state}
	answer, err := q.answers.Objects(q.Context(), q.rights, query)
	if err != nil || q.twin {
		return &view{Answer: answer}, err
	}
	out := objectList{ObjectList: answer, Title: plural(row.Kind), States: states, Filtered: query.Filter+query.Namespace+string(state) != ""}
	out.Why = slices.ContainsFunc(answer.Items, func(o insight.ObjectRow) bool { return o.Message != "" })
	out.Spaces, _ = first(q.limit, answer.Namespaces)
	v := q.view("list", out.Title)
	v.Crumbs = []link{{out.Title, v.root + row.Resource}}
	v.Twins = []link{{"this page", v.root + row.Resource + ".json" + q.self()}}
	v.Data = out
	return v, nil
}

// rowOf returns the kind with a resource name; nil if there is none.
func rowOf(resource string) *catalog.Row {
	i := slices.IndexFunc(catalog.All, func(r *catalog.Row) bool { return r.Resource == resource })
	if i < 0 {
		return nil
	}
	return catalog.Of(catalog.All[i].Kind)
}

// Lists returns links to the lists of objects that workloads select.
func (v *view) Lists() (out []link) {
	for _, row := range catalog.All {
		if !row.IsWorkload() && catalog.Of(row.Kind) == row {
			out = append(out, link{plural(row.Kind), v.root + row.Resource})
		}
	}
	return out
}
