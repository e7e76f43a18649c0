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

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// The operator deletes StatefulSets that have volume claims without them and their
// pods, so that the garbage collector takes no claim. What becomes of the pods is decided here,
// from what the cluster shows: an operator that was restarted in between goes on.

// leftBehind is what must be done about the pods of one StatefulSet.
type leftBehind struct {
	set     *appsv1.StatefulSet // nil when there is none and none is wanted
	relabel []*corev1.Pod       // get the labels by which set adopts them
	replace *corev1.Pod         // is deleted, so that set creates the next one; after relabel, if that is not allowed
	why     string              // replace is replaced
	remove  []*corev1.Pod       // are deleted, because nobody wants them
}

// leftovers finds the pods that a deletion of their StatefulSet left behind:
//
//	StatefulSet               | its pods
//	--------------------------|------------------------------------------------
//	there                     | orphans are made to fit its selector; what it
//	                          | cannot use is replaced in turn
//	being deleted, or wanted  | wait for the next one
//	not there and not wanted  | orphans are removed, also those that a
//	                          | DaemonSet has adopted
//
// wanted are the names of the StatefulSets that should exist; live returns one that is
// the workload's.
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

// leftovers is what must be done about the pods of a workload.
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

// settle brings the pods of a workload to the StatefulSets that exist now. What is
// left to do then starts with an event of a pod or a StatefulSet.
//
// Errors: those of the API server.
func (c *Controller) settle(ctx context.Context, log *slog.Logger, w v1.Workload) error {
	var failed []error
	for _, l := range c.leftovers(w, c.podsOf(keyOf(w))) {
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

// relabel lets a StatefulSet adopt pods; then it replaces them by itself. done is
// false when there is nothing to do or the permission to patch pods is missing.
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

// removePod deletes a pod unless it is gone or another one has its name.
func (c *Controller) removePod(ctx context.Context, p *corev1.Pod) error {
	if err := c.writer.DeletePod(ctx, p); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return err
	}
	return nil
}

// abandoned deletes the pods of a workload that was deleted while its StatefulSets
// were being recreated: nothing else would. The caches show only what this operator
// is responsible for, so the API server is asked whether the workload is gone.
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
