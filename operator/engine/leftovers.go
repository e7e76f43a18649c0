package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// The operator deletes StatefulSets that have volume claims without cascading to their pods, so
// that the garbage collector does not delete the claims. The pods are then handled here, based only
// on the observed state, so a restarted operator continues where it stopped.

// leftBehind is the work to do on the pods of one StatefulSet.
type leftBehind struct {
	set     *appsv1.StatefulSet // nil if none exists and none is wanted
	relabel []*corev1.Pod       // need the labels by which set adopts them
	replace *corev1.Pod         // is deleted so that set creates its replacement; after relabel, if relabeling is forbidden
	why     string              // reason for the replacement
	remove  []*corev1.Pod       // are deleted because they are no longer wanted
}

// leftovers returns the work on pods that were orphaned by the deletion of their StatefulSet:
//
//	StatefulSet                       | its pods
//	----------------------------------|----------------------------------------------
//	exists                            | orphans are relabeled to fit its selector;
//	                                  | unusable ones are replaced one by one
//	being deleted, or wanted          | wait for the next one
//	does not exist and is not wanted  | orphans are deleted, including those adopted
//	                                  | by a DaemonSet
//
// wanted are the names of the StatefulSets that should exist; live returns one that belongs to the
// workload.
func leftovers(wanted []string, live func(name string) (*appsv1.StatefulSet, bool), pods []*corev1.Pod) []leftBehind {
	sets := map[string][]*corev1.Pod{}
	for _, p := range pods {
		if name, _, ok := rollout.SetOf(p); ok {
			sets[name] = append(sets[name], p)
		}
	}
	var out []leftBehind
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		var found leftBehind
		sts, exists := live(name)
		switch {
		case exists && sts.DeletionTimestamp == nil:
			found = unadjusted(sts, sets[name])
		case !exists && !slices.Contains(wanted, name):
			found.remove = slices.DeleteFunc(sets[name], func(p *corev1.Pod) bool {
				return !rollout.Abandoned(p) || p.DeletionTimestamp != nil
			})
		}
		if len(found.relabel) > 0 || found.replace != nil || len(found.remove) > 0 {
			out = append(out, found)
		}
	}
	return out
}

func unadjusted(sts *appsv1.StatefulSet, pods []*corev1.Pod) leftBehind {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(ordinal(a), ordinal(b)) })
	out := leftBehind{set: sts}
	for _, p := range pods {
		if rollout.Relabel(sts, p) != nil {
			out.relabel = append(out.relabel, p)
		}
	}
	out.replace, out.why = rollout.Replace(sts, pods, PodReady)
	return out
}

// leftovers returns the work on the pods of a workload.
func (c *Controller) leftovers(w v1.Workload, pods []*corev1.Pod) []leftBehind {
	var wanted []string
	for _, s := range c.kind.Shape(w).Sets {
		wanted = append(wanted, s.Name)
	}
	return leftovers(wanted, func(name string) (*appsv1.StatefulSet, bool) {
		sts, ok := c.writer.StatefulSets().Get(w.GetNamespace(), name)
		return sts, ok && apply.Owns(w, sts)
	}, pods)
}

// settle adjusts the pods of a workload to the existing StatefulSets. Remaining work is triggered
// by events of pods or StatefulSets.
//
// Errors: those of the API server.
func (c *Controller) settle(ctx context.Context, log *slog.Logger, w v1.Workload) error {
	var failed []error
	for _, l := range c.leftovers(w, c.podsOf(catalog.KeyOf(w))) {
		failed = append(failed, c.adjust(ctx, log, l))
	}
	return errors.Join(failed...)
}

func (c *Controller) adjust(ctx context.Context, log *slog.Logger, l leftBehind) error {
	relabeled, err := c.relabel(ctx, log, l)
	if err != nil {
		return err
	}
	if l.replace != nil && !relabeled {
		log.Info("replacing pod of a recreated StatefulSet", "pod", l.replace.Name, "reason", l.why)
		return c.removePod(ctx, l.replace)
	}
	var failed []error
	for _, p := range l.remove {
		log.Info("deleting orphaned pod", "pod", p.Name)
		failed = append(failed, c.removePod(ctx, p))
	}
	return errors.Join(failed...)
}

// relabel lets a StatefulSet adopt pods, which it then replaces itself. done is false if there is
// nothing to do or the permission to patch pods is missing.
func (c *Controller) relabel(ctx context.Context, log *slog.Logger, l leftBehind) (done bool, err error) {
	for _, p := range l.relabel {
		err := c.writer.PodLabels(ctx, p.Namespace, p.Name, rollout.Relabel(l.set, p))
		if apierrors.IsForbidden(err) {
			log.Warn("cannot relabel pod for the new selector, replacing it instead", "pod", p.Name, "err", err)
			return false, nil
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		log.Info("relabeled pod for the new selector of its StatefulSet", "pod", p.Name)
		done = true
	}
	return done, nil
}

// removePod deletes a pod; it is a no-op if the pod is gone or was recreated.
func (c *Controller) removePod(ctx context.Context, p *corev1.Pod) error {
	if err := c.writer.DeletePod(ctx, p); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return err
	}
	return nil
}

// abandoned deletes the pods of a workload that was deleted while its StatefulSets were being
// recreated, as nothing else would. The caches contain only this operator's workloads, so the API
// server is queried whether the workload still exists.
func (c *Controller) abandoned(ctx context.Context, key types.NamespacedName) error {
	found := leftovers(nil, func(name string) (*appsv1.StatefulSet, bool) {
		return c.writer.StatefulSets().Get(key.Namespace, name)
	}, c.podsOf(key))
	found = slices.DeleteFunc(found, func(l leftBehind) bool { return len(l.remove) == 0 })
	if len(found) == 0 {
		return nil
	}
	exists, err := c.crds.Exists(ctx, key)
	if err != nil || exists {
		return err
	}
	var failed []error
	for _, l := range found {
		failed = append(failed, c.adjust(ctx, c.log.With("key", key.String()), leftBehind{remove: l.remove}))
	}
	return errors.Join(failed...)
}
