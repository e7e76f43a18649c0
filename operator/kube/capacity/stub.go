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
	// stubBytes bounds the labels of a stub, its annotations, its owner references and its
	// finalizers, each.
	stubBytes = 8 << 10
	// statusBytes bounds its status, which the operator writes.
	statusBytes = 64 << 10
	// ownAnnotations begins the annotations that decide how an object is treated.
	ownAnnotations = "operator.prometheus.io/"
	// ownValueBytes bounds the value of one of them.
	ownValueBytes = 256
)

// leftOut says why there is only a stub of an object, and what helps.
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

// stub is what is cached of an object that is left out: its identity, what selects it, what it
// says about other objects, and its status, as far as that is small. It has a fault, so that
// nothing uses it but for its metadata.
func stub(obj Object, fault v1.DecodingFault) Object {
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
	if status := from.FieldByName("Status"); status.IsValid() && small(status.Addr().Interface(), statusBytes) {
		value.Elem().FieldByName("Status").Set(status)
	}
	if o, ok := out.(interface{ GetDecoding() *v1.Decoding }); ok {
		o.GetDecoding().Faults, o.GetDecoding().LeftOut = []v1.DecodingFault{fault}, true
	}
	return out
}

// small reports whether something takes less than a number of bytes.
func small(pointer any, most int) bool { return budget.Size(pointer, most) < most }

// some are the values of a map whose keys are wanted, in the order of their keys as far as
// they fit into a stub. Nothing is shared with the map.
func some(all map[string]string, wanted func(key string) bool) map[string]string {
	left := stubBytes
	var out map[string]string
	for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		own := func(key string) int { return map[bool]int{true: 0, false: 1}[strings.HasPrefix(key, ownAnnotations)] }
		return cmp.Or(cmp.Compare(own(a), own(b)), cmp.Compare(a, b))
	}) {
		value := all[key]
		value = value[:min(len(value), ownValueBytes)]
		if left -= len(key) + len(value); left < 0 || !wanted(key) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[strings.Clone(key)] = strings.Clone(value)
	}
	return out
}

// IsStub reports whether an object is left out, and what is cached of it is a stub.
func IsStub(object any) bool {
	o, ok := object.(interface{ GetDecoding() *v1.Decoding })
	return ok && o.GetDecoding().LeftOut
}
