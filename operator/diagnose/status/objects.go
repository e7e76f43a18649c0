package status

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// State is the state of an object for a workload.
type State string

const (
	Accepted    State = "accepted"
	Rejected    State = "rejected"
	NotSelected State = "not selected"
	Unknown     State = "unknown" // a required object could not be read
)

// Objects lists the objects of one kind, by state.
type Objects struct {
	Kind string `json:"kind"`
	// Groups lists the objects with the same state and reason, the accepted ones first.
	Groups []Group `json:"groups"`
}

// Group is a set of objects that share a state and its reason.
type Group struct {
	State   State    `json:"state"`
	Message string   `json:"message,omitempty"` // reason of the state for the first object; absent for accepted objects
	Names   []string `json:"names"`             // NAMESPACE/NAME, sorted
}

func (o Objects) count(s State) (n int) {
	for _, g := range o.Groups {
		if g.State == s {
			n += len(g.Names)
		}
	}
	return n
}

// objectsOf returns the state of every object that the workload can select. It omits kinds
// without objects.
//
// Errors: the workload is invalid.
func objectsOf(f Facts) ([]Objects, error) {
	out := []Objects{}
	results, err := selectAll(f)
	for _, s := range f.Setup.Selects {
		of, at := Objects{Kind: s.Kind}, map[reason]int{}
		for _, o := range ownFirst(f.Objects[s.Row], f.Object.GetNamespace()) {
			state, message := stateOf(f, s.Row, o, results[id(s.Kind, o)])
			of.add(at, reason{state, message}, o.GetNamespace()+"/"+o.GetName())
		}
		order := []State{Accepted, Rejected, Unknown, NotSelected}
		slices.SortStableFunc(of.Groups, func(a, b Group) int {
			return cmp.Or(slices.Index(order, a.State)-slices.Index(order, b.State), strings.Compare(a.Message, b.Message))
		})
		if len(of.Groups) > 0 {
			out = append(out, of)
		}
	}
	return out, err
}

// ownFirst returns objects sorted by name, with those of the workload's own namespace first: they are usually of most
// interest.
func ownFirst(objects []catalog.Object, namespace string) []catalog.Object {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b catalog.Object) int {
		elsewhere := func(o catalog.Object) int {
			if o.GetNamespace() == namespace {
				return 0
			}
			return 1
		}
		return cmp.Or(elsewhere(a)-elsewhere(b), informer.CompareKeys(a, b))
	})
}

// reason is what the objects of a group have in common.
type reason struct {
	state   State
	message string
}

// add adds an object to its group. at has the indexes of the groups: thousands of objects may have different messages.
func (o *Objects) add(at map[reason]int, r reason, name string) {
	i, has := at[r]
	if !has {
		i = len(o.Groups)
		at[r] = i
		o.Groups = append(o.Groups, Group{State: r.state, Message: r.message})
	}
	o.Groups[i].Names = append(o.Groups[i].Names, name)
}

func id(kind string, o catalog.Object) string {
	return kind + " " + o.GetNamespace() + "/" + o.GetName()
}

// selectAll selects and compiles all objects for the workload.
//
// Errors: the workload is invalid.
func selectAll(f Facts) (map[string]*fragments.Result, error) {
	w := dryrun.Workload{Kind: f.Setup.Kind, Object: f.Object}
	cluster := manifests.Only(f.Setup.Row, f.Object).Cluster(w)
	cluster.NamespaceLabels, cluster.References = f.NamespaceLabels, f.References
	rules, _ := f.Setup.Selectors(f.Object) // selecting returns the same error
	cluster.Objects = func(kind string) iter.Seq[catalog.Object] {
		all := slices.DeleteFunc(slices.Clone(f.Objects[catalog.Of(kind)]), func(o catalog.Object) bool { return f.undecided(rules[kind], o) })
		slices.SortFunc(all, func(a, b catalog.Object) int { return informer.CompareKeys(a, b) })
		return slices.Values(all)
	}
	selects := f.Select
	if selects == nil {
		selects = func(c engine.Cluster) ([]fragments.Result, error) { return dryrun.Select(w, c) }
	}
	results, err := selects(cluster)
	out := map[string]*fragments.Result{}
	for i, v := range results {
		out[id(v.Kind, v.Object)] = &results[i]
	}
	return out, err
}

// undecided reports whether selection of an object depends on unknown labels of its namespace.
func (f Facts) undecided(rule selection.Rule, o catalog.Object) bool {
	return f.NamespaceUnknown != nil && f.NamespaceUnknown(o.GetNamespace()) && rule.Undecided(o.GetNamespace(), o.GetLabels())
}

// stateOf returns the state of one object. A current report of the operator in the status of the
// object takes precedence, because the caller may have fewer permissions.
func stateOf(f Facts, row *catalog.Row, o catalog.Object, v *fragments.Result) (State, string) {
	if !f.Configs.Has(o.GetNamespace()) || v == nil {
		return Unselected(f, row, o)
	}
	if state, message, known := bound(f, o); known {
		return state, message
	}
	switch {
	case assets.IsTemporary(v.Err), assets.IsRefused(v.Err):
		return Unknown, "cannot read a Secret or ConfigMap it refers to: " + v.Err.Error()
	case v.Err != nil:
		return Rejected, v.Err.Error()
	}
	return Accepted, ""
}

// bound returns the state that the status of the object reports for the workload; known is
// false if it reports none, or only for an older generation of the object.
func bound(f Facts, o catalog.Object) (state State, message string, known bool) {
	for _, b := range o.(v1.ConfigResource).GetConfigStatus().Bindings {
		if b.Resource != f.Setup.Resource || b.Namespace != f.Object.GetNamespace() || b.Name != f.Object.GetName() {
			continue
		}
		for _, c := range b.Conditions {
			switch {
			case c.ObservedGeneration != o.GetGeneration():
			case c.Status == v1.ConditionTrue:
				return Accepted, "", true
			case c.Status == v1.ConditionFalse:
				return Rejected, c.Message, true
			}
		}
	}
	return "", "", false
}

// Unselected returns the state of an object by selection alone, and the reason if the workload
// does not select it.
func Unselected(f Facts, row *catalog.Row, o catalog.Object) (State, string) {
	report := explain.Explain(explain.Question{
		Row: row, Object: o, Setups: []engine.Setup{f.Setup}, Workloads: []explain.Candidate{f.Candidate},
		NamespaceLabels: f.NamespaceLabels, NamespaceUnknown: f.NamespaceUnknown, NamespaceHidden: f.NamespaceHidden, References: f.References,
	}, f.Configs)
	if len(report.Workloads) == 0 {
		return Unknown, ""
	}
	v := report.Workloads[0]
	if v.Otherwise != nil {
		v = *v.Otherwise
	}
	message := v.Message
	for _, m := range v.Misses {
		message += "; it requires " + m.String()
	}
	switch {
	case v.Accepted:
		return Accepted, ""
	case v.Reason == explain.NotKnown, v.Reason == explain.WorkloadInvalid:
		return Unknown, message
	}
	return NotSelected, message
}
