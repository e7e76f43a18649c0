package explain

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
)

// Question is an object and everything that decides about it.
type Question struct {
	Kind   string // "ServiceMonitor"
	Object informer.Object
	Owners []Candidate
	// NamespaceLabels returns the labels of a namespace; ok is false when it does
	// not exist.
	NamespaceLabels func(name string) (l labels.Set, ok bool)
	// References resolves what the object refers to.
	References assets.Reader
	// RuleConfigMaps returns the live ConfigMaps with the rules of an owner.
	RuleConfigMaps func(namespace, owner string) []*corev1.ConfigMap
}

// Candidate is an owner that the object may be part of.
type Candidate interface {
	informer.Object
	// Kind is the owner's kind, "Prometheus".
	Kind() string
	// Paused reports whether the operator leaves the owner alone.
	Paused() bool
	// Selects reports whether owners of this kind can have objects of a kind.
	Selects(kind string) bool
	// Rule returns the owner's selectors for a kind of object, and the name of the
	// field before "Selector".
	//
	// Errors: a selector does not parse.
	Rule(kind string) (rule selection.Rule, field string, err error)
	// Compile says what the owner makes of the object that it selects.
	Compile(q *Question, opts prometheus.Options, v *Verdict)
	// Trouble says why the owner's pods may not have what it selects; empty when
	// nothing is known.
	Trouble() string
}

// Reason says in one word why an object is, or is not, part of an owner.
type Reason string

const (
	Accepted              Reason = "Accepted"
	AcceptedWithoutFields Reason = "AcceptedWithoutFields" // the owner's version does not know some fields
	OtherController       Reason = "OtherController"       // another operator looks after the owner
	OwnerNotWatched       Reason = "OwnerNotWatched"       // the operator's flags leave the owner out
	OwnerDeleted          Reason = "OwnerBeingDeleted"
	Paused                Reason = "Paused"
	KindNotSupported      Reason = "KindNotSupported"    // owners of this kind have no such objects
	NamespaceNotWatched   Reason = "NamespaceNotWatched" // the operator's flags leave the object out
	ObjectDeleted         Reason = "ObjectBeingDeleted"
	OwnerInvalid          Reason = "OwnerInvalid" // the owner itself is wrong, so nothing becomes of it
	SelectorNotSet        Reason = "SelectorNotSet"
	NamespaceNotSelected  Reason = "NamespaceNotSelected"
	LabelsNotSelected     Reason = "LabelsNotSelected"
	Rejected              Reason = "Rejected"
	NotKnown              Reason = "NotKnown" // something could not be read
)

// Verdict is the answer of one owner.
type Verdict struct {
	Owner    Ref    `json:"owner"`
	Accepted bool   `json:"accepted"`
	Reason   Reason `json:"reason"`
	Message  string `json:"message"`
	// Selector is the owner's field that decided, "spec.podMonitorSelector".
	Selector string           `json:"selector,omitempty"`
	Misses   []selection.Miss `json:"misses,omitempty"` // of that selector
	Jobs     []string         `json:"jobs,omitempty"`   // job_name of each
	Shards   []string         `json:"shards,omitempty"` // which of them take its targets, for people
	RuleFile string           `json:"ruleFile,omitempty"`
	// ConfigMap holds the rule file; empty when it is not written yet.
	ConfigMap string `json:"configMap,omitempty"`
	// Dropped are fields that the owner's version does not know.
	Dropped []string `json:"dropped,omitempty"`
	// Trouble is why the owner's pods may not have it all the same.
	Trouble string `json:"trouble,omitempty"`
	// Otherwise is what would follow without the reason; of a paused owner.
	Otherwise *Verdict `json:"otherwise,omitempty"`
}

// Ref names an object.
type Ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String is for people: "Prometheus monitoring/k8s".
func (r Ref) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

// Report is the answer.
type Report struct {
	Object          Ref               `json:"object"`
	Labels          map[string]string `json:"labels"`
	NamespaceLabels map[string]string `json:"namespaceLabels"`
	Owners          []Verdict         `json:"owners"` // accepting ones first
}

// Accepted is the number of owners that the object is part of.
func (r Report) Accepted() (n int) {
	for _, v := range r.Owners {
		if v.Accepted {
			n++
		}
	}
	return n
}

// Unknown reports whether some owner's answer is not known and none is yes.
func (r Report) Unknown() bool {
	return r.Accepted() == 0 && slices.ContainsFunc(r.Owners, func(v Verdict) bool { return v.Reason == NotKnown })
}

// Explain answers the question, as an operator with these options does it.
func Explain(q Question, opts prometheus.Options) Report {
	out := Report{
		Object: Ref{q.Kind, q.Object.GetNamespace(), q.Object.GetName()}, Labels: q.Object.GetLabels(), Owners: []Verdict{},
	}
	out.NamespaceLabels, _ = q.NamespaceLabels(q.Object.GetNamespace())
	for _, c := range q.Owners {
		out.Owners = append(out.Owners, judge(&q, c, opts))
	}
	slices.SortStableFunc(out.Owners, func(a, b Verdict) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Owner.Kind, b.Owner.Kind),
			cmp.Compare(a.Owner.Namespace, b.Owner.Namespace), cmp.Compare(a.Owner.Name, b.Owner.Name))
	})
	return out
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
