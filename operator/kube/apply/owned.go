package apply

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// ForeignError means that an object with the wanted name belongs to another owner, for
// example a workload whose name leads to the same object name. It is not changed.
type ForeignError struct {
	Kind, Name string
	Owner      string // "Prometheus web-config-part-1"; empty: not created by the operator and not to be updated
}

func (e *ForeignError) Error() string {
	switch {
	case e.Owner == "" && (e.Kind == "StatefulSet" || e.Kind == "DaemonSet"):
		return fmt.Sprintf("%s %q was not created by this operator, and its pods would be replaced: rename the workload, or delete it", e.Kind, e.Name)
	case e.Owner == "":
		return fmt.Sprintf("%s %q was not created by this operator, and cannot be updated because its type differs or it is immutable: delete or rename it", e.Kind, e.Name)
	}
	return fmt.Sprintf("%s %q belongs to %s and is not overwritten: rename one of the two", e.Kind, e.Name, e.Owner)
}

// foreign returns an error if want must not replace live:
//
//	the controller of live                     | replaced
//	-------------------------------------------|--------------------------------
//	none                                       | yes: it is adopted
//	that of want                               | yes
//	one of the same kind and name, another UID | yes: it was recreated
//	any other                                  | no
//
// If want has no controller, as for shared Services, live is always replaced.
//
// Errors: ForeignError.
func (k *kind[T]) foreign(want, live T) error {
	wants := metav1.GetControllerOf(want)
	if wants == nil {
		return nil
	}
	if owner := OtherOwner(live, wants); owner != "" {
		return &ForeignError{Kind: k.name, Name: live.GetName(), Owner: owner}
	}
	return nil
}

// OtherOwner returns the controller of an object, "Prometheus web", that keeps another one from replacing it; empty if
// there is none.
func OtherOwner(live metav1.Object, wants *metav1.OwnerReference) string {
	has := metav1.GetControllerOf(live)
	if has == nil || has.UID == wants.UID || has.Kind == wants.Kind && has.Name == wants.Name && groupOf(has) == groupOf(wants) {
		return ""
	}
	return has.Kind + " " + has.Name
}

// isOurs reports whether the operator created live, to which [kind.foreign] does not object: it has a controller or the
// label of what operators manage.
func isOurs(live metav1.Object) bool {
	labels := live.GetLabels()
	return metav1.GetControllerOf(live) != nil || labels[wellknown.LabelManagedBy] == wellknown.ManagedBy || labels[wellknown.LabelAppManagedBy] == wellknown.ManagedBy
}

func groupOf(r *metav1.OwnerReference) string {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).Group
}

// owned returns the live object with the identity of o if it has an owner of o. Other
// objects are never removed.
func (k *kind[T]) owned(o metav1.Object) (live T, ok bool) {
	live, ok = k.view.Get(o.GetNamespace(), o.GetName())
	return live, ok && slices.ContainsFunc(live.GetOwnerReferences(), func(has metav1.OwnerReference) bool {
		return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == has.UID })
	})
}

// removeOwned removes the object with the identity of o if it has an owner of o.
func (k *kind[T]) removeOwned(ctx context.Context, o metav1.Object) (Change, error) {
	live, ok := k.owned(o)
	if !ok {
		return Unchanged, nil
	}
	return k.removeLive(ctx, live)
}

// removeLive removes live, but not an object of its name that was created since.
func (k *kind[T]) removeLive(ctx context.Context, live T) (Change, error) {
	uid := live.GetUID()
	return k.remove(ctx, live.GetNamespace(), live.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
}
