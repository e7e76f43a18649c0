package apply

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Object is an object that the writer supports: *corev1.Secret, *corev1.ConfigMap,
// *corev1.Service, *appsv1.StatefulSet or *appsv1.DaemonSet.
type Object interface {
	metav1.Object
	runtime.Object
}

// Verb is the operation of a step.
type Verb string

const (
	Put       Verb = "put"         // create or update
	PutIfNone Verb = "put-once"    // create; keep an existing object
	Remove    Verb = "remove"      // delete if it has an owner of the object; only identity and owner references are used
	Annotate  Verb = "annotations" // set the object's annotations on the live one
	Release   Verb = "release"     // remove the object's owner references from the live one; delete it if none remain
)

// Step is one write.
type Step struct {
	Verb   Verb
	Object Object // without Data if Values is set, see [Step.Whole]

	// Digests has the SHA-256 of the values of a Secret or ConfigMap, by key. If nil, they are not known yet; see
	// [Step.Sums].
	Digests map[string]string
	// Values returns the Data of a ConfigMap. It is called if the ConfigMap must be written.
	Values func() map[string]Value
	// Settled (optional) saves the comparison of a Service that several callers put unchanged.
	Settled *Settled[*corev1.Service]
}

// PutSecret returns a step that creates or updates a Secret. known has the SHA-256 of its large values.
func PutSecret(s *corev1.Secret, known map[string][sha256.Size]byte) Step {
	sums := make(map[string]string, len(s.Data))
	for key, value := range s.Data {
		if sum, ok := known[key]; ok {
			sums[key] = string(sum[:])
		} else {
			sums[key] = DigestValue(value)
		}
	}
	return Step{Verb: Put, Object: s, Digests: sums}
}

// PutConfigMap returns a step that creates or updates a ConfigMap without Data. sums has the SHA-256 of the texts that
// values returns.
func PutConfigMap(m *corev1.ConfigMap, sums map[string]string, values func() map[string]Value) Step {
	return Step{Verb: Put, Object: m, Digests: sums, Values: values}
}

// Whole returns the object with its values.
func (s *Step) Whole() Object {
	m, is := s.Object.(*corev1.ConfigMap)
	if !is || s.Values == nil {
		return s.Object
	}
	out := *m
	out.Data = texts(s.Values())
	return &out
}

// Sums returns the SHA-256 of the values of a Secret, by key. It computes them once: they are needed for the
// comparison with the cluster, for the record of the write and by callers.
func (s *Step) Sums() map[string]string {
	if secret, is := s.Object.(*corev1.Secret); is && s.Digests == nil {
		s.Digests = digests(secret.Data)
	}
	return s.Digests
}

// Done is a finished step with its result.
type Done struct {
	Step
	Change Change
}

// Do executes the steps in order and stops at the first error. It returns the finished ones. After a postponed write,
// nothing is removed. A StatefulSet that belongs to another owner counts as postponed, because no other step needs it:
// the other shards of the workload are still written. A Secret or ConfigMap may be named in those that follow.
//
// Errors: those of the API server; the *ForeignErrors of StatefulSets if all steps were executed; a *ConflictError if
// they were, but another client keeps reverting objects.
func (w *Writer) Do(ctx context.Context, steps []Step) ([]Done, error) {
	var done []Done
	var taken []error
	paused := false
	for _, s := range steps {
		if paused && s.Verb == Remove {
			continue
		}
		change, err := w.step(ctx, s)
		foreign := foreignSet(s, err)
		if foreign {
			taken = append(taken, err)
		}
		if err != nil && !foreign && !errors.Is(err, errPaused) {
			return done, err
		}
		if err == nil {
			done = append(done, Done{s, change})
		}
		paused = paused || err != nil
	}
	if len(taken) > 0 {
		return done, errors.Join(taken...)
	}
	var conflicts []Conflict
	for _, s := range steps {
		if c, ok := w.conflict(s.Object); ok {
			conflicts = append(conflicts, c)
		}
	}
	if len(conflicts) > 0 {
		return done, &ConflictError{conflicts}
	}
	return done, nil
}

// foreignSet reports whether a step failed because its StatefulSet belongs to another owner.
func foreignSet(s Step, err error) bool {
	_, is := s.Object.(*appsv1.StatefulSet)
	if !is {
		return false
	}
	_, is = errors.AsType[*ForeignError](err)
	return is
}

func (w *Writer) step(ctx context.Context, s Step) (Change, error) {
	if s.Verb == Remove {
		w.conflicts.forget(idOf(s.Object))
	}
	switch o := s.Object.(type) {
	case *corev1.Secret:
		if s.Verb == Put {
			return w.putSecret(ctx, o, s.Sums())
		}
		return stepOf(ctx, &w.secrets, s.Verb, o, w.Secret)
	case *corev1.ConfigMap:
		if s.Verb == Put && s.Values != nil {
			return w.putConfigMap(ctx, o, s.Digests, s.Values)
		}
		return stepOf(ctx, &w.configMaps, s.Verb, o, w.ConfigMap)
	case *corev1.Service:
		if s.Verb == Release {
			return w.releaseService(ctx, o)
		}
		if s.Verb == Put && s.Settled != nil {
			return w.serviceOnce(s.Settled).upsert(ctx, o)
		}
		return stepOf(ctx, &w.services, s.Verb, o, w.Service)
	case *appsv1.StatefulSet:
		switch s.Verb {
		case Remove:
			live, ours := w.statefulSets.owned(o)
			if !ours {
				return Unchanged, nil
			}
			return w.removeStatefulSet(ctx, live)
		case Annotate:
			return w.annotateStatefulSet(ctx, o)
		}
		return stepOf(ctx, &w.statefulSets, s.Verb, o, w.StatefulSet)
	case *appsv1.DaemonSet:
		if s.Verb == Remove {
			live, ours := w.daemonSets.owned(o)
			if !ours {
				return Unchanged, nil
			}
			return w.daemonSets.removeWithPods(ctx, live)
		}
		return stepOf(ctx, &w.daemonSets, s.Verb, o, w.DaemonSet)
	}
	return "", fmt.Errorf("cannot write a %T", s.Object)
}

func stepOf[T metav1.Object](ctx context.Context, k *kind[T], verb Verb, o T, put func(context.Context, T) (Change, error)) (Change, error) {
	switch verb {
	case Put:
		return put(ctx, o)
	case PutIfNone:
		if _, exists, err := k.find(ctx, o.GetNamespace(), o.GetName()); exists || err != nil {
			return Unchanged, err
		}
		change, err := k.create(ctx, o)
		if apierrors.IsAlreadyExists(err) {
			return Unchanged, nil
		}
		return change, err
	case Remove:
		return k.removeOwned(ctx, o)
	}
	return "", fmt.Errorf("cannot %s a %s", verb, k.name)
}

func (w *Writer) annotateStatefulSet(ctx context.Context, o *appsv1.StatefulSet) (Change, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": o.Annotations}})
	if err != nil {
		return "", fmt.Errorf("encode annotations of StatefulSet %q: %w", o.Name, err)
	}
	got, err := w.kube.AppsV1().StatefulSets(o.Namespace).Patch(ctx, o.Name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return "", fmt.Errorf("annotate StatefulSet %q: %w", o.Name, err)
	}
	w.statefulSets.noted(o, got)
	return Updated, nil
}
