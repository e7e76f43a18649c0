package apply

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// FieldManager is the field manager of all writes.
const FieldManager = "PrometheusOperator"

// overlay returns the live entries except reserved ones, overlaid with the wanted ones;
// nil if the result is empty.
func overlay(live, want map[string]string) map[string]string {
	out := make(map[string]string, len(live)+len(want))
	for k, v := range live {
		if !strings.HasPrefix(k, wellknown.ReservedPrefix) {
			out[k] = v
		}
	}
	maps.Copy(out, want)
	if len(out) == 0 {
		return nil
	}
	return out
}

// copyMeta copies an object and its metadata. The values, which are large and which no write changes, are shared.
func copyMeta[T any, O interface {
	*T
	metav1.ObjectMetaAccessor
}](object O) O {
	out := *object
	copied := O(&out)
	object.GetObjectMeta().(*metav1.ObjectMeta).DeepCopyInto(copied.GetObjectMeta().(*metav1.ObjectMeta))
	return copied
}

// mergeMeta completes the metadata of want so that it can replace live. Finalizers are
// never ours: an update without "orphan" would delete a StatefulSet's pods.
func mergeMeta[O metav1.Object](want, live O) {
	want.SetResourceVersion(live.GetResourceVersion())
	want.SetFinalizers(live.GetFinalizers())
	want.SetLabels(overlay(live.GetLabels(), want.GetLabels()))
	want.SetAnnotations(overlay(live.GetAnnotations(), want.GetAnnotations()))
}

// sameMeta reports whether merging want into live would not change its metadata.
func sameMeta(want, live metav1.Object) bool {
	return sameMap(overlay(live.GetLabels(), want.GetLabels()), live.GetLabels()) &&
		sameMap(overlay(live.GetAnnotations(), want.GetAnnotations()), live.GetAnnotations()) &&
		sameOwners(want.GetOwnerReferences(), live.GetOwnerReferences())
}

func sameOwners(a, b []metav1.OwnerReference) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.OwnerReference) bool { return keyOfReference(&a) == keyOfReference(&b) })
}

func sameMap(a, b map[string]string) bool {
	return len(a) == len(b) && maps.Equal(a, b)
}

// joinOwners returns the live references and the missing wanted ones.
func joinOwners(live, want []metav1.OwnerReference) []metav1.OwnerReference {
	out := slices.Clone(live)
	if sameOwners(live, want) {
		return out
	}
	have := make(map[referenceKey]bool, len(live))
	for i := range live {
		have[keyOfReference(&live[i])] = true
	}
	for i := range want {
		if !have[keyOfReference(&want[i])] {
			out = append(out, want[i])
		}
	}
	return out
}

// referenceKey is a comparable owner reference.
type referenceKey struct {
	apiVersion, kind, name string
	uid                    types.UID
	controller, blocks     string
}

func keyOfReference(r *metav1.OwnerReference) referenceKey {
	return referenceKey{r.APIVersion, r.Kind, r.Name, r.UID, optional(r.Controller), optional(r.BlockOwnerDeletion)}
}

// optional returns "true", "false", or "" for an unset value.
func optional(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}
