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

// Question is an object and all inputs of its verdicts.
type Question struct {
	Row    *catalog.Row
	Object catalog.Object
	// Setups are the supported kinds of workloads.
	Setups    []engine.Setup
	Workloads []Candidate
	// NamespaceLabels returns the labels of a namespace; ok is false if it does not exist.
	NamespaceLabels func(name string) (l labels.Set, ok bool)
	// NamespaceUnknown reports whether a namespace may have labels that NamespaceLabels does
	// not return; nil if those are complete.
	NamespaceUnknown func(name string) bool
	// References resolves the references of the object.
	References assets.Reader
	// AsWritten rewords a verdict for the API version in which the object was written; nil if
	// that is the version that the operator reads.
	AsWritten func(compiled.Verdict) compiled.Verdict
	// Targets returns the scraped targets of a workload that uses the object, as lines of text;
	// nil to skip targets.
	Targets func(Candidate) []string
	// RuleConfigMaps returns the live ConfigMaps with the rules of a workload; nil without a
	// cluster.
	RuleConfigMaps func(Candidate) []*corev1.ConfigMap
	// Look searches for targets; nil to skip the search.
	Look nearmiss.Look
	// Findings is the lint result of the manifests; nil in a cluster.
	Findings *lint.Examination
}

// Reason is a one-word reason why a workload uses an object, or why not.
type Reason string

const (
	Accepted              Reason = "Accepted"
	AcceptedWithoutFields Reason = "AcceptedWithoutFields" // the workload's version does not support some fields
	UsedByName            Reason = "UsedByName"            // the workload names the object instead of selecting it
	OtherController       Reason = "OtherController"       // another operator manages the workload
	OwnerNotWatched       Reason = "WorkloadNotWatched"    // the operator's flags exclude the workload
	OwnerDeleted          Reason = "WorkloadBeingDeleted"
	Paused                Reason = "Paused"
	KindNotSupported      Reason = "KindNotSupported"    // workloads of this kind do not select such objects
	NamespaceNotWatched   Reason = "NamespaceNotWatched" // the operator's flags exclude the object
	ObjectDeleted         Reason = "ObjectBeingDeleted"
	OwnerInvalid          Reason = "WorkloadInvalid" // the workload itself is invalid, so nothing is generated
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

// Accepted returns the number of workloads that use the object.
func (r Report) Accepted() (n int) {
	for _, v := range r.Owners {
		if v.Accepted {
			n++
		}
	}
	return n
}

// Unknown reports whether a verdict is unknown and no workload accepts the object.
func (r Report) Unknown() bool {
	return r.Accepted() == 0 && slices.ContainsFunc(r.Owners, func(v Verdict) bool { return v.Reason == NotKnown })
}

// Explain returns the verdicts of all workloads, for an operator that watches selectable
// objects in the namespaces of configs.
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

// pertinent removes the verdicts of kinds that never select such objects, unless there are no others.
func pertinent(all []Verdict) []Verdict {
	other := func(v Verdict) bool { return v.Reason == KindNotSupported }
	if !slices.ContainsFunc(all, func(v Verdict) bool { return !other(v) }) {
		return all
	}
	return slices.DeleteFunc(all, other)
}

// rank returns the sort key of a verdict: accepted first, then by how close it is to accepted.
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
