package status

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Facts are the inputs of the report about a workload, as read from a cluster.
type Facts struct {
	explain.Candidate
	// Configs are the namespaces in which the operator watches selectable objects.
	Configs informer.Namespaces
	// Objects are the objects of each kind that the workload can select. Kinds that could not be
	// read are missing.
	Objects         map[*catalog.Row][]catalog.Object
	NamespaceLabels func(name string) (l labels.Set, ok bool)
	// NamespaceUnknown reports whether a namespace may have labels that NamespaceLabels does not
	// return; nil if those are complete.
	NamespaceUnknown func(name string) bool
	// NamespaceHidden reports whether the reader may not see the labels of a namespace; nil if all may be seen.
	NamespaceHidden func(name string) bool
	References      assets.Reader
	// Select replaces [manifests.Select], for example by a caching implementation; nil for the
	// default.
	Select func(engine.Cluster) ([]fragments.Result, error)

	Pods         []*corev1.Pod
	StatefulSets []*appsv1.StatefulSet
	// DaemonSet is nil if the workload has none, or it does not exist.
	DaemonSet *appsv1.DaemonSet
	Events    []corev1.Event
	// PodsUnknown is set if the pods could not be read.
	PodsUnknown bool
	// Unread lists what could not be read, with the reasons.
	Unread []string
}

// Report is the status of one workload. Times are absolute, so the report changes only if the
// facts change.
type Report struct {
	Workload catalog.Ref `json:"workload"`
	// Unmanaged is the reason why the operator does not manage the workload. Absent if it does.
	Unmanaged  string      `json:"unmanaged,omitempty"`
	Paused     bool        `json:"paused,omitempty"`
	Conditions []Condition `json:"conditions"`
	Pods       []Pod       `json:"pods"`
	// PodsUnknown is true if the pods could not be read.
	PodsUnknown bool      `json:"podsUnknown,omitempty"`
	Objects     []Objects `json:"objects"`
	// Invalid is the reason why the workload itself cannot be reconciled. Absent if it can.
	Invalid string  `json:"invalid,omitempty"`
	Events  []Event `json:"events"`
	// Unread lists what could not be read and is therefore missing, with the reasons. Absent if the report is complete.
	Unread []string `json:"unread,omitempty"`
}

// View computes the report. It is deterministic.
func View(f Facts) Report {
	w := f.Object
	out := Report{
		Workload: catalog.RefOf(f.Setup.Row.Kind, w),
		Paused:   w.GetWorkloadFields().Paused,
		Pods:     []Pod{}, Objects: []Objects{},
		PodsUnknown: f.PodsUnknown, Unread: f.Unread,
	}
	out.Unmanaged = f.Unmanaged()
	out.Conditions = conditionsOf(w)
	out.Pods = append(out.Pods, podsOf(f)...)
	if out.Unmanaged == "" {
		var err error
		switch out.Objects, err = objectsOf(f); {
		case assets.IsTemporary(err), assets.IsRefused(err):
			out.Unread = append(slices.Clone(out.Unread), err.Error())
		case err != nil:
			out.Invalid = err.Error()
		}
	}
	out.Events = EventsOf(f.Events)
	return out
}

// Good reports whether the workload has no problems: it is managed and valid, all conditions are
// True and current, all pods are known and ready, and no object is rejected.
func (r Report) Good() bool {
	for _, c := range r.Conditions {
		if c.Status != "True" || c.Stale {
			return false
		}
	}
	for _, p := range r.Pods {
		if !p.Ready {
			return false
		}
	}
	for _, o := range r.Objects {
		if o.count(Rejected) > 0 {
			return false
		}
	}
	return r.Invalid == "" && r.Unmanaged == "" && !r.PodsUnknown && len(r.Conditions) > 0
}

// age returns the time since t, or zero if t is unknown.
func age(now, t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t))
}
