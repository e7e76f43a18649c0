package status

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Facts are what a cluster shows of a workload.
type Facts struct {
	explain.Candidate
	// Configs are the namespaces in which the operator watches what workloads select.
	Configs informer.Namespaces
	// Objects are those of each kind that the workload can select; kinds that could not be
	// read are missing.
	Objects         map[*catalog.Row][]catalog.Object
	NamespaceLabels func(name string) (l labels.Set, ok bool)
	// NamespaceUnknown reports whether a namespace may have more labels than those; nil when all
	// of them are known.
	NamespaceUnknown func(name string) bool
	References       assets.Reader
	// Select (optional) says what the workload makes of objects, as [manifests.Select] does, for
	// whoever asks again and again.
	Select func(engine.Cluster) ([]compiled.Verdict, error)

	Pods         []*corev1.Pod
	StatefulSets []*appsv1.StatefulSet
	// DaemonSet is nil where none runs the pods, or it does not exist.
	DaemonSet *appsv1.DaemonSet
	Events    []corev1.Event
	// PodsUnknown says that the pods could not be read.
	PodsUnknown bool
	// Unread is what could not be read, each with the reason.
	Unread []string
}

// Report is the page of one workload. Times are absolute, so that the page changes only
// when something happens.
type Report struct {
	Workload catalog.Ref `json:"workload"`
	// Unmanaged is why the operator leaves the workload alone; empty when it does not.
	Unmanaged  string      `json:"unmanaged,omitempty"`
	Paused     bool        `json:"paused,omitempty"`
	Conditions []Condition `json:"conditions"`
	Pods       []Pod       `json:"pods"`
	// PodsUnknown says that the pods could not be read.
	PodsUnknown bool      `json:"podsUnknown,omitempty"`
	Objects     []Objects `json:"objects"`
	// Invalid is why the workload itself cannot be reconciled.
	Invalid string   `json:"invalid,omitempty"`
	Events  []Event  `json:"events"`
	Unread  []string `json:"unread,omitempty"`
}

// View makes the page. Same facts, same page.
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

// Good reports whether nothing calls for attention: all conditions are True, all pods are known
// and ready, and no object is rejected.
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

// age is the time since t, none for a time that is not known.
func age(now, t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t))
}
