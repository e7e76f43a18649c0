package insight

import (
	"context"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// inNamespace identifies the objects of a kind in a namespace.
type inNamespace struct {
	schema.GroupVersionResource
	namespace string
}

// labelNames are the names of the labels in the pod selector of a kind of workload.
type labelNames []string

// readRunning reads the pods, StatefulSets and DaemonSets of all workloads, cluster-wide or, if
// that is forbidden, in the namespaces of the workloads.
func (w *snapshot) readRunning(ctx context.Context, r readers.Reader, all []explain.Candidate, shape func(explain.Candidate) engine.Shape) {
	w.pods, w.sets, w.notRunning = map[string][]*corev1.Pod{}, map[types.NamespacedName]*appsv1.StatefulSet{}, map[inNamespace]string{}
	w.daemons = map[types.NamespacedName]*appsv1.DaemonSet{}
	if len(all) == 0 {
		return
	}
	common := map[string]string(nil)
	namespaces, onNodes := map[string]bool{}, map[string]map[string]bool{} // all; those with DaemonSets, by selector
	for _, c := range all {
		selector := shape(c).Selector
		names := labelNames(slices.Sorted(maps.Keys(selector)))
		if !slices.ContainsFunc(w.podLabels, func(n labelNames) bool { return slices.Equal(n, names) }) {
			w.podLabels = append(w.podLabels, names)
		}
		if common == nil {
			common = maps.Clone(selector)
		}
		maps.DeleteFunc(common, func(name, value string) bool { return selector[name] != value })
		namespaces[c.Object.GetNamespace()] = true
		if of := c.Setup.DaemonSets; of != "" && shape(c).DaemonSet != "" {
			if onNodes[of] == nil {
				onNodes[of] = map[string]bool{}
			}
			onNodes[of][c.Object.GetNamespace()] = true
		}
	}
	for _, o := range w.everywhere(ctx, r, readers.Query{GroupVersionResource: readers.Pods, Labels: labels.Set(common).String()}, namespaces) {
		pod := o.(*corev1.Pod)
		for _, names := range w.podLabels {
			if key, ok := podKey(pod.Namespace, names, pod.Labels); ok {
				w.pods[key] = append(w.pods[key], pod)
			}
		}
	}
	seen := map[string]bool{}
	for _, c := range all {
		if of := c.Setup.StatefulSets; !seen[of] {
			seen[of] = true
			for _, o := range w.everywhere(ctx, r, readers.Query{GroupVersionResource: readers.StatefulSets, Labels: of}, namespaces) {
				w.sets[catalog.KeyOf(o)] = o.(*appsv1.StatefulSet)
			}
		}
	}
	for of, namespaces := range onNodes {
		for _, o := range w.everywhere(ctx, r, readers.Query{GroupVersionResource: readers.DaemonSets, Labels: of}, namespaces) {
			w.daemons[catalog.KeyOf(o)] = o.(*appsv1.DaemonSet)
		}
	}
}

// everywhere lists in all namespaces or, if that fails, in each of the given ones.
func (w *snapshot) everywhere(ctx context.Context, r readers.Reader, q readers.Query, namespaces map[string]bool) []readers.Object {
	out, missing := readers.AtOnce(ctx, r, q, slices.Sorted(maps.Keys(namespaces)))
	for _, m := range missing {
		w.notRunning[inNamespace{m.GroupVersionResource, m.Namespace}] = m.String()
		w.unread = access.AppendNotes(w.unread, m.String())
	}
	return out
}

// podKey returns a key of the namespace and the values of labels; ok is false if a label is
// missing.
func podKey(namespace string, names labelNames, of map[string]string) (key string, ok bool) {
	var b strings.Builder
	b.WriteString(namespace)
	for _, name := range names {
		value, has := of[name]
		if !has {
			return "", false
		}
		b.WriteString("\x00" + name + "\x00" + value)
	}
	return b.String(), true
}

// podsOf returns the pods of a workload.
func (w *snapshot) podsOf(c explain.Candidate, shape engine.Shape) []*corev1.Pod {
	key, _ := podKey(c.Object.GetNamespace(), slices.Sorted(maps.Keys(shape.Selector)), shape.Selector)
	return slices.SortedFunc(slices.Values(w.pods[key]), func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) }) // caches are unordered
}

// setsOf returns the existing StatefulSets of a workload.
func (w *snapshot) setsOf(c explain.Candidate, shape engine.Shape) (out []*appsv1.StatefulSet) {
	for _, set := range shape.Sets {
		if sts := w.sets[types.NamespacedName{Namespace: c.Object.GetNamespace(), Name: set.Name}]; sts != nil {
			out = append(out, sts)
		}
	}
	return out
}

// daemonOf returns the DaemonSet of a workload; nil if there is none.
func (w *snapshot) daemonOf(c explain.Candidate, shape engine.Shape) *appsv1.DaemonSet {
	return w.daemons[types.NamespacedName{Namespace: c.Object.GetNamespace(), Name: shape.DaemonSet}]
}

// notRead records the running objects of a workload that could not be read.
func (w *snapshot) notRead(f *status.Facts, shape engine.Shape) {
	namespace := f.Object.GetNamespace()
	add := func(of schema.GroupVersionResource, has bool) bool {
		why := w.notRunning[inNamespace{of, namespace}]
		if has && why != "" {
			f.Unread = append(f.Unread, why)
		}
		return why != ""
	}
	f.PodsUnknown = add(readers.Pods, true)
	add(readers.StatefulSets, len(shape.Sets) > 0)
	add(readers.DaemonSets, shape.DaemonSet != "")
}
