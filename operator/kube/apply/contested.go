package apply

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// admit checks whether want may be written now. If exists is true, it replaces live.
//
// Errors: errPaused.
func (k *kind[T]) admit(ctx context.Context, want, live T, exists bool) error {
	var found state
	if exists {
		found = stateOf(live)
	}
	id := objectID{k.name, want.GetNamespace(), want.GetName()}
	now := k.conflicts.before(id, k.digest(want), found, time.Now())
	switch {
	case now.begins && now.untouched:
		k.conflicts.name(id, "an admission webhook that changes each write in another way")
	case now.begins:
		k.conflicts.name(id, k.opponent(ctx, id, now.signed))
	}
	if now.wait > 0 {
		return errPaused
	}
	return nil
}

// noted records a write and the resulting object; nil means that it was deleted.
func (k *kind[T]) noted(obj, made metav1.Object) {
	var left state
	var signed time.Time
	if made != nil {
		left, signed = stateOf(made), signedAt(made.GetManagedFields())
	}
	if k.conflicts.wrote(objectID{k.name, obj.GetNamespace(), obj.GetName()}, left, signed, time.Now()) {
		k.conflicts.overwrote(k.name)
	}
}

// signedAt returns the time of the last write with our field manager.
func signedAt(fields []metav1.ManagedFieldsEntry) time.Time {
	var out time.Time
	for _, f := range fields {
		if f.Manager == FieldManager && f.Subresource != "status" && f.Time != nil && f.Time.After(out) {
			out = f.Time.Time
		}
	}
	return out
}

// Conflicts returns the number of objects that another client keeps reverting.
func (w *Writer) Conflicts() int { return w.conflicts.count(time.Now()) }

// conflict returns the conflict about an object, if there is one.
func (w *Writer) conflict(o Object) (Conflict, bool) { return w.conflicts.at(idOf(o), time.Now()) }

func idOf(o Object) objectID { return objectID{KindOf(o), o.GetNamespace(), o.GetName()} }

// KindOf returns the kind of an object, for example "StatefulSet".
func KindOf(o Object) string {
	name := fmt.Sprintf("%T", o)
	return name[strings.LastIndexByte(name, '.')+1:]
}

func stateOf(obj metav1.Object) state {
	if obj.GetGeneration() == 0 {
		return state{meta: obj.GetResourceVersion()}
	}
	meta := digestOf(metav1.ObjectMeta{
		UID: obj.GetUID(), Labels: obj.GetLabels(), Annotations: obj.GetAnnotations(), OwnerReferences: obj.GetOwnerReferences(),
	})
	return state{meta: string(meta[:]), generation: obj.GetGeneration()}
}

// digest identifies the content of a desired object, without the input hash, which also
// depends on the existing object.
func (k *kind[T]) digest(want T) [sha256.Size]byte {
	if k.summary != nil {
		want = k.summary(want)
	}
	if want.GetAnnotations()[wellknown.AnnotationInputHash] != "" {
		want = k.copy(want)
		delete(want.GetAnnotations(), wellknown.AnnotationInputHash)
	}
	return digestOf(want)
}

// opponent reads which client changed an object after our last write. Caches hold no managed fields.
func (k *kind[T]) opponent(ctx context.Context, id objectID, signed time.Time) string {
	live, err := k.api(id.namespace).Get(ctx, id.name, metav1.GetOptions{})
	if err != nil {
		return "another client that deletes it"
	}
	return lastManager(live.GetManagedFields(), signed)
}

// lastManager returns the human-readable name of the last client that wrote. ours is the
// time of our own last write. Times have a resolution of one second, and programs with
// the same field manager share an entry.
func lastManager(fields []metav1.ManagedFieldsEntry, ours time.Time) string {
	var last metav1.ManagedFieldsEntry
	for _, f := range fields {
		foreign := f.Manager != FieldManager && f.Subresource != "status"
		if foreign && f.Time != nil && !f.Time.Time.Before(ours) && (last.Time == nil || last.Time.Before(f.Time)) {
			last = f
		}
	}
	if last.Time == nil {
		return fmt.Sprintf("another operator with the field manager %q", FieldManager)
	}
	return fmt.Sprintf("%q", last.Manager)
}
