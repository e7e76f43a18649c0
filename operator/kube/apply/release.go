package apply

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// releaseService removes the owner references of o from the live Service, which owners
// share. If none remain, the Service is unused and is deleted.
//
// Errors: a conflict if another owner was added meanwhile.
func (w *Writer) releaseService(ctx context.Context, o *corev1.Service) (Change, error) {
	k := &w.services
	live, ok := k.view.Get(o.Namespace, o.Name)
	if !ok {
		return Unchanged, nil
	}
	next := k.copy(live)
	next.OwnerReferences = slices.DeleteFunc(next.OwnerReferences, func(have metav1.OwnerReference) bool {
		return slices.ContainsFunc(o.OwnerReferences, func(ours metav1.OwnerReference) bool { return ours.UID == have.UID })
	})
	switch len(next.OwnerReferences) {
	case len(live.OwnerReferences):
		return Unchanged, nil
	case 0:
		return k.remove(ctx, o.Namespace, o.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion},
		})
	}
	got, err := k.api(o.Namespace).Update(ctx, next, metav1.UpdateOptions{FieldManager: FieldManager})
	if apierrors.IsNotFound(err) {
		return Unchanged, nil
	}
	if err != nil {
		return "", fmt.Errorf("release Service %q: %w", o.Name, err)
	}
	k.remember(next, got)
	return Updated, nil
}
