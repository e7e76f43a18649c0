package apply

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// GrowClaim increases the storage request of a PersistentVolumeClaim. Its pods keep
// running.
//
// Errors: the API server rejects the change, for example because the storage class does
// not allow expansion.
func (w *Writer) GrowClaim(ctx context.Context, namespace, name string, size resource.Quantity) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"resources": map[string]any{
		"requests": map[corev1.ResourceName]resource.Quantity{corev1.ResourceStorage: size},
	}}})
	if err != nil {
		return fmt.Errorf("encode the size of PersistentVolumeClaim %q: %w", name, err)
	}
	_, err = w.kube.CoreV1().PersistentVolumeClaims(namespace).Patch(ctx, name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return fmt.Errorf("expand PersistentVolumeClaim %q to %s: %w", name, size.String(), err)
	}
	return nil
}
