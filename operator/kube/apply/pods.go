package apply

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PodAnnotation sets one annotation on a running pod. This restarts nothing, because the
// controllers only compare revision labels.
func (w *Writer) PodAnnotation(ctx context.Context, namespace, pod, key, value string) error {
	if err := w.patchPod(ctx, namespace, pod, "annotations", map[string]string{key: value}); err != nil {
		return fmt.Errorf("annotate pod %q: %w", pod, err)
	}
	return nil
}

// PodLabels sets labels on a running pod.
func (w *Writer) PodLabels(ctx context.Context, namespace, pod string, labels map[string]string) error {
	if err := w.patchPod(ctx, namespace, pod, "labels", labels); err != nil {
		return fmt.Errorf("label pod %q: %w", pod, err)
	}
	return nil
}

func (w *Writer) patchPod(ctx context.Context, namespace, pod, field string, entries map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{field: entries}})
	if err != nil {
		return err
	}
	_, err = w.kube.CoreV1().Pods(namespace).Patch(ctx, pod, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager})
	return err
}

// EvictPod evicts a pod, which disruption budgets may reject.
func (w *Writer) EvictPod(ctx context.Context, pod *corev1.Pod) error {
	opts := removal(pod)
	err := w.kube.CoreV1().Pods(pod.Namespace).EvictV1(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, DeleteOptions: &opts,
	})
	if err != nil {
		return fmt.Errorf("evict pod %q: %w", pod.Name, err)
	}
	return nil
}

// DeletePod deletes a pod.
func (w *Writer) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	if err := w.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, removal(pod)); err != nil {
		return fmt.Errorf("delete pod %q: %w", pod.Name, err)
	}
	return nil
}

// removal returns delete options that do not match a recreated pod with the same name.
func removal(pod *corev1.Pod) metav1.DeleteOptions {
	background := metav1.DeletePropagationBackground
	return metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &pod.UID}}
}
