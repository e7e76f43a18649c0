package page

import (
	"net/url"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// maxAttention bounds what calls for attention on the overview.
const maxAttention = 30

// maxUnselected bounds the objects that no workload selects.
const maxUnselected = 20

type overview struct {
	insight.Overview
	Groups        []attention
	MoreAttention int
	Counts        []string // of workloads by state: "2 good"
	// MoreUnselected is how many objects that no workload selects are not named.
	MoreUnselected int
	First          bool // the first part
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

// healths are the states of workloads, those first that need somebody.
var healths = []insight.Health{
	insight.Invalid, insight.NeedsAttention, insight.Unreconciled, insight.PodsNotKnown, insight.Paused, insight.Unmanaged, insight.Good,
}

// maxTogether bounds the objects that are named for one cause.
const maxTogether = 5

// attention is what several objects have in common: the same workload, problem and reason.
type attention struct {
	insight.Attention
	Objects []catalog.Ref
	More    int // objects that are not named
}

// grouped puts what has the same reason together, in at most some groups; shown is how many it stands for.
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

// kinds are those that have a page.
func kinds() (out []string) {
	for _, row := range catalog.All {
		if catalog.Of(row.Kind) == row {
			out = append(out, row.Kind)
		}
	}
	return append(out, "Pod")
}

// goPage goes to the page of an object whose name somebody knows.
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
