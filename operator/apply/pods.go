package apply

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PodAnnotation sets one annotation on a running pod. It restarts nothing: the
// controllers compare revision labels only.
func (w *Writer) PodAnnotation(ctx context.Context, namespace, pod, key, value string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{key: value}}})
	if err != nil {
		return fmt.Errorf("encode annotation of pod %q: %w", pod, err)
	}
	_, err = w.kube.CoreV1().Pods(namespace).Patch(ctx, pod, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return fmt.Errorf("annotate pod %q: %w", pod, err)
	}
	return nil
}
