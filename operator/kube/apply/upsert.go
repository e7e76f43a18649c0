package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// Change is the result of a write.
type Change string

const (
	Created   Change = "created"   // the object did not exist
	Updated   Change = "updated"   // it differed and was replaced
	Unchanged Change = "unchanged" // no call was made
	Deleted   Change = "deleted"   // it was removed
)

// endpoint is the API client of one kind.
type endpoint[T metav1.Object] interface {
	Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error)
	Update(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error)
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
}

// kind defines how objects of one kind are compared and replaced.
type kind[T metav1.Object] struct {
	name string // for messages: "Secret"
	view *View[T]
	api  func(namespace string) endpoint[T]
	// same reports whether live is already as wanted.
	same func(want, live T) bool
	// merge completes want with the parts of live that must be kept.
	merge func(want, live T)
	// frozen (optional) reports whether the API server would reject a replacement of the content of live.
	frozen func(live T) bool
	// hasPods means that an object that is being deleted is not written, because its pods are
	// deleted with it or adopted by its successor. Objects of other kinds are read until they
	// disappear, and written until then.
	hasPods bool
	// wrote (optional) is called with the object that a write returned.
	wrote func(want, got T)
	// keep returns the part of a written object that is remembered and compared; nil: all.
	keep func(T) T
	// copy returns a copy that merge may change.
	copy func(T) T
	// summary (optional) returns a small object that differs if the content of want differs.
	summary func(want T) T

	conflicts *conflicts
}

// upsert creates or updates one object. It does not modify want.
func (k *kind[T]) upsert(ctx context.Context, want T) (Change, error) {
	live, ok, err := k.find(ctx, want.GetNamespace(), want.GetName())
	if err != nil {
		return "", err
	}
	if ok {
		if err := k.foreign(want, live); err != nil {
			return "", err
		}
	}
	frozen := ok && k.isFrozen(live)
	if ok && !frozen && k.same(want, live) {
		return Unchanged, nil
	}
	if err := k.admit(ctx, want, live, ok); err != nil {
		return "", err
	}
	if frozen {
		if err := k.removeFrozen(ctx, want, live); err != nil {
			return "", err
		}
		ok = false
	}
	if !ok {
		change, err := k.create(ctx, want)
		if !apierrors.IsAlreadyExists(err) {
			return change, err
		}
		// Our caches select by label: the object exists without our labels.
		return k.replace(ctx, want, nil)
	}
	change, err := k.replace(ctx, want, &live)
	if apierrors.IsNotFound(err) {
		return k.create(ctx, want) // deleted, and the cache lags behind
	}
	return change, err
}

// isFrozen reports whether the API server would reject a replacement of the content of live.
func (k *kind[T]) isFrozen(live T) bool { return k.frozen != nil && k.frozen(live) }

// removeFrozen removes live so that want can be created. Without it, pods of a configuration Secret do not start: it stays
// if the API server would not accept want, because of a quota, too.
//
// Errors: ForeignError for an object that the operator did not create.
func (k *kind[T]) removeFrozen(ctx context.Context, want, live T) error {
	if !isOurs(live) {
		return &ForeignError{Kind: k.name, Name: want.GetName()}
	}
	if err := k.creatable(ctx, want); err != nil {
		return fmt.Errorf("replace %s %q: %w", k.name, want.GetName(), err)
	}
	_, err := k.removeLive(ctx, live)
	return err
}

// find returns an object from the view, or from the API server if the view may lack it.
func (k *kind[T]) find(ctx context.Context, namespace, name string) (live T, ok bool, err error) {
	if live, ok = k.view.Get(namespace, name); ok || k.view.knows(namespace, name) {
		return live, ok, nil
	}
	got, err := k.api(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return live, false, nil
	case err != nil:
		return live, false, fmt.Errorf("read %s %q: %w", k.name, name, err)
	case k.keep != nil:
		got = k.keep(got)
	}
	return got, true, nil
}

// InTerminatingNamespace reports whether the API server rejected the creation of an object
// because its namespace is being deleted or does not exist.
func InTerminatingNamespace(err error) bool {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return true
	}
	status, is := errors.AsType[*apierrors.StatusError](err)
	return is && apierrors.IsNotFound(status) && status.ErrStatus.Details != nil && status.ErrStatus.Details.Kind == "namespaces"
}

func (k *kind[T]) create(ctx context.Context, want T) (Change, error) {
	got, err := k.api(want.GetNamespace()).Create(ctx, want, metav1.CreateOptions{FieldManager: FieldManager})
	if err != nil {
		return "", fmt.Errorf("create %s %q: %w", k.name, want.GetName(), err)
	}
	k.remember(want, got)
	return Created, nil
}

// creatable returns the error with which the API server would reject the creation of an object, nil if only because one
// of its name exists.
func (k *kind[T]) creatable(ctx context.Context, want T) error {
	_, err := k.api(want.GetNamespace()).Create(ctx, want, metav1.CreateOptions{FieldManager: FieldManager, DryRun: []string{metav1.DryRunAll}})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// raced defines the pauses, a second in total, before an update is retried with the API
// server's version: a controller and another operator may write the object as often as we do.
var raced = wait.Backoff{Steps: 8, Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.5}

// replace updates the object. It starts from cached unless nil, and after a conflict from the
// API server's version, which may be in deletion.
func (k *kind[T]) replace(ctx context.Context, want T, cached *T) (Change, error) {
	api := k.api(want.GetNamespace())
	var got T
	ending := false
	err := onConflict(func() error {
		var live T
		var err error
		if cached != nil {
			live, cached = *cached, nil
		} else if live, err = api.Get(ctx, want.GetName(), metav1.GetOptions{}); err != nil {
			return err
		} else {
			k.conflicts.found(objectID{k.name, want.GetNamespace(), want.GetName()}, stateOf(live))
		}
		if err := k.foreign(want, live); err != nil {
			return err
		}
		if k.isFrozen(live) && !isOurs(live) {
			return &ForeignError{Kind: k.name, Name: want.GetName()}
		}
		if ending = k.hasPods && live.GetDeletionTimestamp() != nil; ending {
			return nil
		}
		next := k.copy(want)
		k.merge(next, live)
		got, err = api.Update(ctx, next, metav1.UpdateOptions{FieldManager: FieldManager})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("update %s %q: %w", k.name, want.GetName(), err)
	}
	if ending {
		return Unchanged, nil
	}
	k.remember(want, got)
	return Updated, nil
}

// onConflict retries do after conflicts and returns the error of the last attempt.
// [retry.RetryOnConflict] alone returns nil when do fails because its context has ended.
func onConflict(do func() error) error {
	var last error
	err := retry.RetryOnConflict(raced, func() error {
		last = do()
		return last
	})
	return cmp.Or(err, last)
}

func (k *kind[T]) remember(want, got T) {
	k.noted(want, got)
	if k.wrote != nil {
		k.wrote(want, got)
	}
	if k.keep != nil {
		got = k.keep(got)
	}
	k.view.wrote(got)
}

func (k *kind[T]) remove(ctx context.Context, namespace, name string, opts metav1.DeleteOptions) (Change, error) {
	live, known := k.view.cache.Get(namespace, name)
	err := k.api(namespace).Delete(ctx, name, opts)
	if apierrors.IsNotFound(err) {
		return Unchanged, nil
	}
	if err != nil {
		return "", fmt.Errorf("delete %s %q: %w", k.name, name, err)
	}
	if known {
		k.view.removed(live)
	}
	return Deleted, nil
}
