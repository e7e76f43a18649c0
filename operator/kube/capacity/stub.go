package capacity

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const (
	// stubBytes is the limit for each of the labels, annotations, owner references and finalizers of a stub.
	stubBytes = 8 << 10
	// statusShare is the part of the capacity, 4 is a quarter, that the statuses of all stubs take in addition.
	statusShare = 4
	// ownAnnotations is the prefix of the annotations that control how an object is processed.
	ownAnnotations = "operator.prometheus.io/"
	// ownValueBytes limits the value of such an annotation.
	ownValueBytes = 256
)

// leftOut returns the fault of a stub, with the reason and a remedy.
func leftOut(e *entry, room int) v1.DecodingFault {
	return v1.DecodingFault{Reason: fmt.Sprintf("the operator holds at most %s of monitoring objects and of what is generated from them, namespace %q is one of "+
		"those that hold most, and this object takes %s of it, more than others: make it smaller, or delete others", mebibytes(room), e.Namespace, mebibytes(e.all()))}
}

func mebibytes(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1<<10-1)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// stub returns the cached form of a left-out object, and the size of its status: its identity, labels, references to other
// objects and status, as far as they are small. It has a fault, so that only its metadata is
// used.
//
// room: for the status.
func stub(obj Object, fault v1.DecodingFault, room int) (cached Object, statusBytes int) {
	from := reflect.ValueOf(obj).Elem()
	value := reflect.New(from.Type())
	out := value.Interface().(Object)
	out.SetNamespace(obj.GetNamespace())
	out.SetName(obj.GetName())
	out.SetUID(obj.GetUID())
	out.SetResourceVersion(obj.GetResourceVersion())
	out.SetGeneration(obj.GetGeneration())
	out.SetCreationTimestamp(obj.GetCreationTimestamp())
	out.SetDeletionTimestamp(obj.GetDeletionTimestamp())
	out.SetLabels(some(obj.GetLabels(), func(string) bool { return true }))
	out.SetAnnotations(some(obj.GetAnnotations(), func(key string) bool { return strings.HasPrefix(key, ownAnnotations) }))
	if finalizers := obj.GetFinalizers(); small(&finalizers, stubBytes) {
		out.SetFinalizers(finalizers)
	}
	if owners := obj.GetOwnerReferences(); small(&owners, stubBytes) {
		out.SetOwnerReferences(owners)
	}
	statusLeftOut := v1.StatusLeftOut(obj)
	if status := from.FieldByName("Status"); status.IsValid() && !status.IsZero() {
		most := min(budget.StatusBytes, room)
		if statusBytes = budget.Size(status.Addr().Interface(), max(most, 1)); statusBytes < most {
			value.Elem().FieldByName("Status").Set(status)
		} else {
			statusBytes, statusLeftOut = 0, true
		}
	}
	if o, ok := out.(interface{ GetDecoding() *v1.Decoding }); ok {
		*o.GetDecoding() = v1.Decoding{Faults: []v1.DecodingFault{fault}, LeftOut: true, StatusLeftOut: statusLeftOut}
	}
	return out, statusBytes
}

// small reports whether the value takes less than most bytes.
func small(pointer any, most int) bool { return budget.Size(pointer, most) < most }

// some returns the entries whose keys are wanted up to the limit of a stub, those with
// ownAnnotations first and then in key order. Long values are truncated. The result shares no
// memory with all.
func some(all map[string]string, wanted func(key string) bool) map[string]string {
	left := stubBytes
	var out map[string]string
	for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		own := func(key string) int { return map[bool]int{true: 0, false: 1}[strings.HasPrefix(key, ownAnnotations)] }
		return cmp.Or(cmp.Compare(own(a), own(b)), cmp.Compare(a, b))
	}) {
		if !wanted(key) {
			continue
		}
		value := all[key]
		value = strings.ToValidUTF8(value[:min(len(value), ownValueBytes)], "") // drops half a character at the cut
		if left -= len(key) + len(value); left < 0 {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[strings.Clone(key)] = strings.Clone(value)
	}
	return out
}

// IsStub reports whether the object is a stub of a left-out object.
func IsStub(object any) bool {
	o, ok := object.(interface{ GetDecoding() *v1.Decoding })
	return ok && o.GetDecoding().LeftOut
}
