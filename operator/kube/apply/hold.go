package apply

import (
	"context"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// orphans holds deleted StatefulSets until they are recreated, because some data is only
// in the live object: kubectl annotations and held-back images. Losing an entry merely
// causes a rollout.
type orphans struct {
	mu   sync.Mutex
	left map[types.NamespacedName]orphan
}

type orphan struct {
	live *appsv1.StatefulSet
	held bool
}

func (o *orphans) keep(live *appsv1.StatefulSet, held bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left == nil {
		o.left = map[types.NamespacedName]orphan{}
	}
	o.left[catalog.KeyOf(live)] = orphan{live, held}
}

func (o *orphans) take(key types.NamespacedName) (orphan, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out, ok := o.left[key]
	delete(o.left, key)
	return out, ok
}

// createStatefulSet creates a StatefulSet that is not in the cache.
func (w *Writer) createStatefulSet(ctx context.Context, want *appsv1.StatefulSet) (Change, error) {
	k := &w.statefulSets
	left, orphaned := w.orphans.take(catalog.KeyOf(want))
	if orphaned = orphaned && sameController(want, left.live); orphaned {
		want = k.copy(want)
		mergeTemplate(&want.Spec.Template, &left.live.Spec.Template)
		if left.held {
			want, _ = w.holdImages(want, left.live)
		}
	}
	change, err := k.create(ctx, want)
	if apierrors.IsAlreadyExists(err) {
		return w.adopt(ctx, want)
	}
	if err != nil && orphaned {
		w.orphans.keep(left.live, left.held)
	}
	return change, err
}

// sameController reports whether two objects belong to the same workload, which was not recreated in between.
func sameController(a, b metav1.Object) bool {
	of, and := metav1.GetControllerOfNoCopy(a), metav1.GetControllerOfNoCopy(b)
	return of == nil || and == nil || of.UID == and.UID
}

// rolling reports whether pods of a StatefulSet are being replaced, for example by "kubectl rollout restart".
func rolling(live *appsv1.StatefulSet) bool {
	return live.Generation != live.Status.ObservedGeneration || live.Status.CurrentRevision != live.Status.UpdateRevision
}

// holdBack returns want with the images of live instead of those in HoldImages if only
// these would replace the pods and no rollout is in progress. It uses a dry run, because
// only the API server can apply its defaults.
func (w *Writer) holdBack(ctx context.Context, want, live *appsv1.StatefulSet) (out *appsv1.StatefulSet, held bool, err error) {
	k := &w.statefulSets
	candidate, differs := w.holdImages(want, live)
	if !differs || rolling(live) {
		return want, false, nil
	}
	trial := k.copy(live)
	trial.Spec.Template = *candidate.Spec.Template.DeepCopy()
	mergeTemplate(&trial.Spec.Template, &live.Spec.Template)
	got, err := k.api(want.Namespace).Update(ctx, trial, metav1.UpdateOptions{FieldManager: FieldManager, DryRun: []string{metav1.DryRunAll}})
	if _, invalid := refusedAsInvalid(err); invalid || apierrors.IsNotFound(err) {
		return want, false, nil // the update itself returns this error
	}
	if err != nil {
		return nil, false, fmt.Errorf("dry-run update of StatefulSet %q: %w", want.Name, err)
	}
	if equality.Semantic.DeepEqual(got.Spec.Template, live.Spec.Template) {
		return candidate, true, nil
	}
	return want, false, nil
}

// holdImages returns a copy of want with the images of live for containers whose wanted
// image is in HoldImages, and their probes, which depend on it. differs is false if the images
// are equal.
func (w *Writer) holdImages(want, live *appsv1.StatefulSet) (out *appsv1.StatefulSet, differs bool) {
	have := containers(&live.Spec.Template.Spec)
	out = want.DeepCopy()
	for _, list := range [][]corev1.Container{out.Spec.Template.Spec.InitContainers, out.Spec.Template.Spec.Containers} {
		for i, c := range list {
			if old, ok := have[c.Name]; ok && old.Image != c.Image && slices.Contains(w.HoldImages, c.Image) {
				list[i].Image, differs = old.Image, true
				holdProbes(&list[i], old)
			}
		}
	}
	return out, differs
}

// holdProbes keeps the commands of probes that another image needs: a shell, or the program of a
// reloader. The commands of users stay as they want them.
func holdProbes(want *corev1.Container, live corev1.Container) {
	for _, p := range []struct {
		want **corev1.Probe
		live *corev1.Probe
	}{{&want.StartupProbe, live.StartupProbe}, {&want.ReadinessProbe, live.ReadinessProbe}, {&want.LivenessProbe, live.LivenessProbe}} {
		if workload.OwnProbe(*p.want) && p.live != nil && p.live.Exec != nil {
			*p.want = p.live.DeepCopy()
		}
	}
}

// containers returns the containers of a pod by name.
func containers(pod *corev1.PodSpec) map[string]corev1.Container {
	out := map[string]corev1.Container{}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		out[c.Name] = c
	}
	return out
}
