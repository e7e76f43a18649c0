package explain

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Question is an object and everything that decides about it.
type Question struct {
	Row    *catalog.Row
	Object catalog.Object
	// Setups are the kinds of workloads that there are.
	Setups    []engine.Setup
	Workloads []Candidate
	// NamespaceLabels returns the labels of a namespace; ok is false when it does
	// not exist.
	NamespaceLabels func(name string) (l labels.Set, ok bool)
	// NamespaceUnknown reports whether a namespace may have more labels than those; nil
	// when all of them are known.
	NamespaceUnknown func(name string) bool
	// References resolves what the object refers to.
	References assets.Reader
	// AsWritten words a verdict for the version in which the object was written; nil when
	// it is the one that the operator reads.
	AsWritten func(compiled.Verdict) compiled.Verdict
	// Targets says in lines what a workload that uses the object scrapes; nil when nobody
	// looks.
	Targets func(Candidate) []string
	// RuleConfigMaps returns the live ConfigMaps with the rules of a workload; nil where
	// there are none.
	RuleConfigMaps func(Candidate) []*corev1.ConfigMap
	// Look is where targets are found; nil where nobody looks.
	Look nearmiss.Look
	// Findings are those about the manifests; nil in a cluster.
	Findings *lint.Examination
}

// Reason says in one word why a workload uses an object, or why not.
type Reason string

const (
	Accepted              Reason = "Accepted"
	AcceptedWithoutFields Reason = "AcceptedWithoutFields" // the workload's version does not support some fields
	UsedByName            Reason = "UsedByName"            // the workload names the object instead of selecting it
	OtherController       Reason = "OtherController"       // another operator manages the workload
	OwnerNotWatched       Reason = "WorkloadNotWatched"    // the operator's flags leave the workload out
	OwnerDeleted          Reason = "WorkloadBeingDeleted"
	Paused                Reason = "Paused"
	KindNotSupported      Reason = "KindNotSupported"    // workloads of this kind have no such objects
	NamespaceNotWatched   Reason = "NamespaceNotWatched" // the operator's flags leave the object out
	ObjectDeleted         Reason = "ObjectBeingDeleted"
	OwnerInvalid          Reason = "WorkloadInvalid" // the workload itself is wrong, so nothing becomes of it
	SelectorNotSet        Reason = "SelectorNotSet"
	NamespaceNotSelected  Reason = "NamespaceNotSelected"
	LabelsNotSelected     Reason = "LabelsNotSelected"
	Rejected              Reason = "Rejected"
	NotKnown              Reason = "NotKnown" // something could not be read
)

// Verdict is the answer of one workload.
type Verdict struct {
	Owner    catalog.Ref `json:"workload"`
	Accepted bool        `json:"accepted"`
	Reason   Reason      `json:"reason"`
	Message  string      `json:"message"`
	// Selector is the workload's field that decided, "spec.podMonitorSelector".
	Selector string           `json:"selector,omitempty"`
	Misses   []selection.Miss `json:"misses,omitempty"` // of that selector; those that cannot be known with the reason NotKnown
	Jobs     []string         `json:"jobs,omitempty"`   // job_name of each
	Shards   []string         `json:"shards,omitempty"` // which of them take its targets, for people
	// LooksFor is what the jobs look for, and As the ServiceAccount that they do it as, with
	// what it must be allowed; both for people.
	LooksFor []string `json:"looksFor,omitempty"`
	As       []string `json:"as,omitempty"`
	// Alerts says where the alerts of rules are sent, for people.
	Alerts []string `json:"alerts,omitempty"`
	// Hints are what is probably not as its author meant it.
	Hints []Hint `json:"hints,omitempty"`
	// Unknown is what could not be looked at, so that there may be more hints, for people.
	Unknown []string `json:"unknown,omitempty"`
	// Where are the places that decided, of an object that is not selected; for people.
	Where []string `json:"where,omitempty"`
	// Targets are what is scraped now, for people; nil when nobody looked.
	Targets []string `json:"targets,omitempty"`
	// Receivers are the names of those that it adds to the configuration.
	Receivers []string `json:"receivers,omitempty"`
	RuleFile  string   `json:"ruleFile,omitempty"`
	// ConfigMap holds the rule file; empty when it is not written yet.
	ConfigMap string `json:"configMap,omitempty"`
	// Dropped are fields that the workload's version does not support.
	Dropped []string `json:"dropped,omitempty"`
	// Trouble is why the workload's pods may not have it all the same.
	Trouble string `json:"trouble,omitempty"`
	// Otherwise is what would follow without the reason; of a paused workload.
	Otherwise *Verdict `json:"otherwise,omitempty"`
}

// Report is the answer.
type Report struct {
	Object          catalog.Ref       `json:"object"`
	Labels          map[string]string `json:"labels"`
	NamespaceLabels map[string]string `json:"namespaceLabels"`
	Owners          []Verdict         `json:"workloads"` // accepting ones first
	// Findings are what else is known of an object that no workload could use, for people.
	Findings []string `json:"findings,omitempty"`

	kinds []*catalog.Row // of workloads
}

// Accepted is the number of workloads that use the object.
func (r Report) Accepted() (n int) {
	for _, v := range r.Owners {
		if v.Accepted {
			n++
		}
	}
	return n
}

// Unknown reports whether some workload's answer is not known and none is yes.
func (r Report) Unknown() bool {
	return r.Accepted() == 0 && slices.ContainsFunc(r.Owners, func(v Verdict) bool { return v.Reason == NotKnown })
}

// Explain answers the question as an operator does that watches the namespaces for
// what workloads select.
func Explain(q Question, configs informer.Namespaces) Report {
	out := Report{
		Object: catalog.Ref{Kind: q.Row.Kind, Namespace: q.Object.GetNamespace(), Name: q.Object.GetName()}, Labels: q.Object.GetLabels(), Owners: []Verdict{},
	}
	for _, s := range q.Setups {
		if s.SelectsBy(q.Row.Kind).Row != nil {
			out.kinds = append(out.kinds, s.Row)
		}
	}
	out.NamespaceLabels, _ = q.NamespaceLabels(q.Object.GetNamespace())
	for _, c := range q.Workloads {
		out.Owners = append(out.Owners, inquiry{&q, c, configs}.judge())
	}
	out.Owners = pertinent(out.Owners)
	if len(out.Owners) == 0 {
		out.Findings = q.findings()
	}
	slices.SortStableFunc(out.Owners, func(a, b Verdict) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Owner.Kind, b.Owner.Kind),
			cmp.Compare(a.Owner.Namespace, b.Owner.Namespace), cmp.Compare(a.Owner.Name, b.Owner.Name))
	})
	return out
}

// pertinent leaves out workloads of kinds that never select such objects, unless there are no others.
func pertinent(all []Verdict) []Verdict {
	other := func(v Verdict) bool { return v.Reason == KindNotSupported }
	if !slices.ContainsFunc(all, func(v Verdict) bool { return !other(v) }) {
		return all
	}
	return slices.DeleteFunc(all, other)
}

// rank is the order of verdicts: those that are near to yes first.
func rank(v Verdict) int {
	switch {
	case v.Accepted:
		return 0
	case v.Reason == Rejected, v.Reason == NotKnown, v.Reason == OwnerInvalid:
		return 1
	case v.Reason == Paused:
		return 2
	case v.Reason == LabelsNotSelected:
		return 3
	}
	return 4
}
