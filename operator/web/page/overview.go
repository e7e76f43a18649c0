package page

import (
	"net/url"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// maxAttention is the maximum number of problems on the overview.
const maxAttention = 30

// maxUnselected is the maximum number of unselected objects on the overview.
const maxUnselected = 20

type overview struct {
	insight.Overview
	Groups        []attention
	MoreAttention int
	Counts        []string // of workloads by state: "2 good"
	// MoreUnselected is the number of unselected objects that are not shown.
	MoreUnselected int
	First          bool // the first part of the list
	Kinds          []string
}

func overviewPage(q *request) (*view, error) {
	if err := q.allow("q", "continue"); err != nil {
		return nil, err
	}
	answer, err := q.answers.Overview(q.Context(), q.rights, q.part())
	if err != nil || q.twin {
		return &view{Answer: answer}, err
	}
	v := q.view("overview", "Overview")
	v.Twins = []link{{"this page", v.twin(q.self())}}
	out := overview{Overview: *answer, First: q.query.Get("continue") == "", Kinds: kinds()}
	shown := 0
	out.Groups, shown = grouped(answer.Attention, min(maxAttention, q.limit))
	out.MoreAttention = max(0, answer.AttentionTotal-shown)
	for _, health := range healths {
		if n := answer.Health[health]; n > 0 {
			out.Counts = append(out.Counts, number(n)+" "+state(health).Word)
		}
	}
	out.Unselected, _ = first(maxUnselected, answer.Unselected)
	out.MoreUnselected = answer.UnselectedTotal - len(out.Unselected)
	v.Data = out
	return v, nil
}

// healths are the states of workloads, the most urgent first.
var healths = []insight.Health{
	insight.Invalid, insight.NeedsAttention, insight.Unreconciled, insight.PodsNotKnown, insight.Paused, insight.Unmanaged, insight.Good,
}

// maxTogether is the maximum number of objects that are shown for one problem.
const maxTogether = 5

// attention is a problem that several objects have for the same reason, in the same workload.
type attention struct {
	insight.Attention
	Objects []catalog.Ref
	More    int // objects that are not shown
}

// grouped groups problems by reason into up to most groups; shown is the number of problems in
// them.
func grouped(all []insight.Attention, most int) (out []attention, shown int) {
	at := map[insight.Attention]int{}
	for _, a := range all {
		key := a
		key.Object = catalog.Ref{}
		i, known := at[key]
		if !known || a.Object.Name == "" {
			if len(out) == most {
				continue
			}
			i = len(out)
			at[key] = i
			out = append(out, attention{Attention: a})
		}
		shown++
		switch {
		case a.Object.Name == "":
		case len(out[i].Objects) < maxTogether:
			out[i].Objects = append(out[i].Objects, a.Object)
		default:
			out[i].More++
		}
	}
	return out, shown
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

// goPage redirects to the page of an object by its name.
func goPage(q *request) (*view, error) {
	if err := q.allow("kind", "namespace", "name"); err != nil {
		return nil, err
	}
	kind, err := oneOf(q, "kind", kinds()...)
	if err != nil {
		return nil, err
	}
	o := catalog.Ref{Kind: kind, Namespace: q.query.Get("namespace"), Name: q.query.Get("name")}
	for _, p := range []string{"kind", "namespace", "name"} {
		switch v := q.query.Get(p); {
		case v == "":
			return nil, bad(p, "not given")
		case len(v) > maxName:
			return nil, bad(p, "longer than %d characters", maxName)
		case p != "kind" && len(validation.IsDNS1123Subdomain(v)) > 0:
			return nil, bad(p, "not a name that an object can have")
		}
	}
	return &view{Location: pageOf(upward(&url.URL{Path: "/go"}), o)}, nil
}
