package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// StatefulSet creates or updates a StatefulSet:
//
//	cache has                         | call
//	----------------------------------|------------------------------------------
//	no StatefulSet                    | create
//	none, but the server has one      | patch its labels, so that the cache sees it, unless it is of others
//	one that is being deleted         | none
//	the wanted input hash             | none, unless metadata of ours was changed
//	another input hash                | update, see holdBack
//	... and the server responds 422   | see recreate
func (w *Writer) StatefulSet(ctx context.Context, want *appsv1.StatefulSet) (Change, error) {
	k := &w.statefulSets
	live, ok := k.view.Get(want.Namespace, want.Name)
	if ok && (live.DeletionTimestamp != nil || k.same(want, live)) {
		return Unchanged, nil
	}
	if err := k.admit(ctx, want, live, ok); err != nil {
		return "", err
	}
	if !ok {
		return w.createStatefulSet(ctx, want)
	}
	want, held, err := w.holdBack(ctx, want, live)
	if err != nil {
		return "", err
	}
	change, err := k.replace(ctx, want, &live)
	if causes, immutable := refusedAsInvalid(err); immutable {
		return w.recreate(ctx, rejectedUpdate{live, want, held, causes, err})
	}
	return change, err
}

// rejectedUpdate is an update of a StatefulSet that the API server rejected because of immutable fields.
type rejectedUpdate struct {
	live, want *appsv1.StatefulSet
	held       bool   // want keeps images of live
	causes     string // human-readable
	err        error
}

// recreate deletes a StatefulSet whose update was rejected. The event of its deletion triggers the
// reconciliation that recreates it, even if the operator restarts meanwhile.
//
// Pods and volume claims remain and are adopted: a StatefulSet that owns its claims ("whenDeleted:
// Delete") must not delete them while the workload exists. The caller replaces pods that cannot remain
// permanently ([rollout.Misfit]).
//
// Nothing is deleted if the API server would not accept the new object: without its StatefulSet a lost
// pod is not replaced.
func (w *Writer) recreate(ctx context.Context, u rejectedUpdate) (Change, error) {
	err := w.statefulSets.creatable(ctx, u.want)
	if _, invalid := refusedAsInvalid(err); invalid {
		return "", u.err
	}
	if err != nil && !overQuota(err) {
		return "", fmt.Errorf("recreate StatefulSet %q, because an immutable field changes: %w", u.want.Name, err)
	}
	r := Recreation{Namespace: u.want.Namespace, Name: u.want.Name, Causes: u.causes, Misfit: rollout.Misfit(u.live, u.want)}
	w.OnRecreate(r)
	change, err := w.leavePods(ctx, u.live)
	if change == Deleted {
		w.statefulSets.noted(u.want, nil)
		w.orphans.keep(u.live, u.held && r.Misfit == "") // pods that are replaced need not keep their images
	}
	return change, err
}

// overQuota reports whether the creation of a StatefulSet was only rejected by a quota, which has room
// once the old one is deleted.
func overQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// Recreation describes a StatefulSet that is deleted in order to be recreated.
type Recreation struct {
	Namespace, Name string
	Causes          string // why the API server rejected the update
	Misfit          string // why its pods are replaced one by one afterwards; empty: they remain
}

// removeStatefulSet deletes a StatefulSet. Without claim templates it is deleted in the foreground after
// its pods. Otherwise it might own its volume claims, and claims and pods are orphaned; the pods remain
// until they are deleted separately.
func (w *Writer) removeStatefulSet(ctx context.Context, live *appsv1.StatefulSet) (Change, error) {
	if len(live.Spec.VolumeClaimTemplates) == 0 {
		return w.statefulSets.removeWithPods(ctx, live)
	}
	return w.leavePods(ctx, live)
}

// leavePods deletes a StatefulSet and orphans its dependents.
func (w *Writer) leavePods(ctx context.Context, live *appsv1.StatefulSet) (Change, error) {
	return w.statefulSets.end(ctx, live, metav1.DeletePropagationOrphan)
}

// removeWithPods deletes a workload in the foreground, after its pods.
func (k *kind[T]) removeWithPods(ctx context.Context, live T) (Change, error) {
	return k.end(ctx, live, metav1.DeletePropagationForeground)
}

// end starts a deletion that may take a while. It does not affect an object that was recreated meanwhile.
func (k *kind[T]) end(ctx context.Context, live T, propagation metav1.DeletionPropagation) (Change, error) {
	uid := live.GetUID()
	err := k.api(live.GetNamespace()).Delete(ctx, live.GetName(), metav1.DeleteOptions{
		PropagationPolicy: &propagation, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if apierrors.IsNotFound(err) {
		return Unchanged, nil
	}
	if err != nil {
		return "", fmt.Errorf("delete %s %q: %w", k.name, live.GetName(), err)
	}
	going := k.copy(live)
	going.SetDeletionTimestamp(new(metav1.Now()))
	k.view.ending(going)
	return Deleted, nil
}

// adopt restores the labels of a StatefulSet that is not in the cache because it lacks them.
//
// Errors: ForeignError for one that the operator did not create.
func (w *Writer) adopt(ctx context.Context, want *appsv1.StatefulSet) (Change, error) {
	live, err := w.kube.AppsV1().StatefulSets(want.Namespace).Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read StatefulSet %q: %w", want.Name, err)
	}
	if err := w.statefulSets.foreign(want, live); err != nil {
		return "", err
	}
	if _, hashed := live.Annotations[wellknown.AnnotationInputHash]; !hashed && !isOurs(live) {
		return "", &ForeignError{Kind: w.statefulSets.name, Name: want.Name}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": want.Labels}})
	if err != nil {
		return "", fmt.Errorf("encode labels of StatefulSet %q: %w", want.Name, err)
	}
	got, err := w.kube.AppsV1().StatefulSets(want.Namespace).Patch(ctx, want.Name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return "", fmt.Errorf("restore labels of StatefulSet %q: %w", want.Name, err)
	}
	w.statefulSets.noted(want, got)
	return Updated, nil
}

// sameInput compares hashes instead of specs. The hash covers the live spec, too, except that of a new object, which may be
// created by others with our annotations, from a backup for example: its pods would never fit.
func sameInput(want, live *appsv1.StatefulSet) bool {
	return want.Annotations[wellknown.AnnotationInputHash] == live.Annotations[wellknown.AnnotationInputHash] && sameMeta(want, live) &&
		rollout.Misfit(live, want) == ""
}

func mergeStatefulSet(want, live *appsv1.StatefulSet) {
	mergeMeta(want, live)
	if want.Spec.RevisionHistoryLimit == nil {
		want.Spec.RevisionHistoryLimit = live.Spec.RevisionHistoryLimit // not managed by the operator
	}
	mergeTemplate(&want.Spec.Template, &live.Spec.Template)
}

// mergeTemplate keeps kubectl's annotations of the live template, so that `kubectl rollout restart` works.
func mergeTemplate(want, live *corev1.PodTemplateSpec) {
	for k, v := range live.Annotations {
		if strings.HasPrefix(k, wellknown.KubectlPrefix) {
			if want.Annotations == nil {
				want.Annotations = map[string]string{}
			}
			want.Annotations[k] = v
		}
	}
}

// refusedAsInvalid reports whether the API server rejected an update of immutable fields, and returns
// the causes.
func refusedAsInvalid(err error) (causes string, ok bool) {
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is || status.ErrStatus.Code != http.StatusUnprocessableEntity || status.ErrStatus.Reason != metav1.StatusReasonInvalid {
		return "", false
	}
	if status.ErrStatus.Details == nil {
		return status.ErrStatus.Message, true
	}
	var all []string
	for _, c := range status.ErrStatus.Details.Causes {
		all = append(all, c.Message)
	}
	return strings.Join(all, ", "), true
}
