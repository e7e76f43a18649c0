package explain

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Question is an object and all inputs of its results.
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
	// NamespaceHidden reports whether the reader may not see which labels of a namespace a selector does not match; nil if
	// all may be seen.
	NamespaceHidden func(name string) bool
	// References resolves the references of the object.
	References assets.Reader
	// Named returns an object that a workload names, nil if it does not exist; nil without a cluster.
	Named func(row *catalog.Row, name types.NamespacedName) (catalog.Object, error)
	// AsWritten rewords a result for the API version in which the object was written; nil if
	// that is the version that the operator reads.
	AsWritten func(fragments.Result) fragments.Result
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
	WorkloadNotWatched    Reason = "WorkloadNotWatched"    // the operator's flags exclude the workload
	WorkloadDeleted       Reason = "WorkloadBeingDeleted"
	Paused                Reason = "Paused"
	KindNotSupported      Reason = "KindNotSupported"    // workloads of this kind do not select such objects
	NamespaceNotWatched   Reason = "NamespaceNotWatched" // the operator's flags exclude the object
	ObjectDeleted         Reason = "ObjectBeingDeleted"
	WorkloadInvalid       Reason = "WorkloadInvalid" // the workload itself is invalid, so nothing is generated
	SelectorNotSet        Reason = "SelectorNotSet"
	NamespaceNotSelected  Reason = "NamespaceNotSelected"
	LabelsNotSelected     Reason = "LabelsNotSelected"
	Rejected              Reason = "Rejected"
	NotKnown              Reason = "NotKnown" // something could not be read
)

// Result is the result for one workload.
type Result struct {
	Workload catalog.Ref `json:"workload"`
	Accepted bool        `json:"accepted"`
	Reason   Reason      `json:"reason"`
	Message  string      `json:"message"`
	// Selector is the field of the workload that determined the result, for example "spec.podMonitorSelector".
	Selector string           `json:"selector,omitempty"`
	Misses   []selection.Miss `json:"misses,omitempty"` // unmet requirements of the selector; with reason NotKnown, those that could not be checked. Without present if the label is not shown
	// Also lists further reasons why the object is not selected, which remain when the first is resolved, human-readable.
	Also   []string `json:"also,omitempty"`
	Jobs   []string `json:"jobs,omitempty"`   // job_name of each generated job
	Shards []string `json:"shards,omitempty"` // shards that scrape its targets, human-readable
	// LooksFor describes the objects that the jobs discover, human-readable.
	LooksFor []string `json:"looksFor,omitempty"`
	// FoundBy says who discovers these objects, human-readable. Absent if the server does it alone.
	FoundBy []string `json:"foundBy,omitempty"`
	// As is the ServiceAccount used for discovery, with the permissions that it needs, human-readable.
	As []string `json:"as,omitempty"`
	// Alerts describes where alerts of the rules are sent, human-readable.
	Alerts []string `json:"alerts,omitempty"`
	// Hints lists probable mistakes.
	Hints []Hint `json:"hints,omitempty"`
	// Unknown lists what could not be checked, human-readable. There may be more hints.
	Unknown []string `json:"unknown,omitempty"`
	// Where lists the places in the manifests that determined the result, human-readable. Only for objects that are not
	// selected.
	Where []string `json:"where,omitempty"`
	// Targets describes the currently scraped targets, human-readable. Absent if unknown.
	Targets []string `json:"targets,omitempty"`
	// Receivers lists the names of the receivers that the object adds to the configuration.
	Receivers []string `json:"receivers,omitempty"`
	// Matches describes the alerts to which the operator limits an AlertmanagerConfig, human-readable. Absent if there is no
	// limit.
	Matches  []string `json:"matches,omitempty"`
	RuleFile string   `json:"ruleFile,omitempty"`
	// ConfigMap is the name of the ConfigMap with the rule file. Absent if it is not written yet.
	ConfigMap string `json:"configMap,omitempty"`
	// Dropped lists the fields that are ignored because the version of the workload does not support them.
	Dropped []string `json:"dropped,omitempty"`
	// Trouble is the reason why the pods of the workload may not use the object although it is accepted. Absent if
	// there is none.
	Trouble string `json:"trouble,omitempty"`
	// Otherwise is the result that a paused workload would have if it were not paused. Absent for other workloads.
	Otherwise *Result `json:"otherwise,omitempty"`
}

// Report explains which workloads use an object, and why.
type Report struct {
	Object          catalog.Ref       `json:"object"`
	Labels          map[string]string `json:"labels"`          // labels of the object; null if it has none
	NamespaceLabels map[string]string `json:"namespaceLabels"` // labels of its namespace; null if there are none, or they are unknown or not shown
	Workloads       []Result          `json:"workloads"`       // result of each workload, the accepting ones first
	// Findings lists problems of the object that do not depend on a workload, and what is missing in the report,
	// human-readable.
	Findings []string `json:"findings,omitempty"`

	kinds []*catalog.Row // of workloads
}

// Accepted returns the number of workloads that use the object.
func (r Report) Accepted() (n int) {
	for _, v := range r.Workloads {
		if v.Accepted {
			n++
		}
	}
	return n
}

// Unknown reports whether a result is unknown and no workload accepts the object.
func (r Report) Unknown() bool {
	return r.Accepted() == 0 && slices.ContainsFunc(r.Workloads, func(v Result) bool { return v.Reason == NotKnown })
}

// Try is [Explain]. A panic is returned as an error.
func Try(q Question, configs informer.Namespaces) (out Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = dryrun.Panicked(p)
		}
	}()
	return Explain(q, configs), nil
}

// Explain returns the results of all workloads, for an operator that watches selectable
// objects in the namespaces of configs.
func Explain(q Question, configs informer.Namespaces) Report {
	q.Object = manifest.Whole(q.Object)
	out := Report{
		Object: catalog.Ref{Kind: q.Row.Kind, Namespace: q.Object.GetNamespace(), Name: q.Object.GetName()}, Labels: q.Object.GetLabels(), Workloads: []Result{},
	}
	for _, s := range q.Setups {
		if s.SelectsBy(q.Row.Kind).Row != nil {
			out.kinds = append(out.kinds, s.Row)
		}
	}
	out.NamespaceLabels, _ = q.NamespaceLabels(q.Object.GetNamespace())
	for _, c := range q.Workloads {
		out.Workloads = append(out.Workloads, inquiry{&q, c, configs}.result())
	}
	out.Workloads = pertinent(out.Workloads)
	if len(out.Workloads) == 0 {
		out.Findings = q.findings()
		if text := notWatched(q.Row, q.Object.GetNamespace(), configs); text != "" {
			out.Findings = append([]string{text}, out.Findings...)
		}
	}
	slices.SortStableFunc(out.Workloads, func(a, b Result) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Workload.Kind, b.Workload.Kind),
			cmp.Compare(a.Workload.Namespace, b.Workload.Namespace), cmp.Compare(a.Workload.Name, b.Workload.Name))
	})
	return out
}

// pertinent removes the results of kinds that never select such objects, unless there are no others.
func pertinent(all []Result) []Result {
	other := func(v Result) bool { return v.Reason == KindNotSupported }
	if !slices.ContainsFunc(all, func(v Result) bool { return !other(v) }) {
		return all
	}
	return slices.DeleteFunc(all, other)
}

// rank returns the sort key of a result: accepted first, then by how close it is to accepted.
func rank(v Result) int {
	switch {
	case v.Accepted:
		return 0
	case v.Reason == Rejected, v.Reason == NotKnown, v.Reason == WorkloadInvalid:
		return 1
	case v.Reason == Paused:
		return 2
	case v.Reason == LabelsNotSelected:
		return 3
	}
	return 4
}
