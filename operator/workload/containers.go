package workload

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

const (
	// ContainerPrometheus is the container of the server or agent in pods of Prometheus objects.
	ContainerPrometheus = "prometheus"
	// ContainerThanos is the Thanos sidecar in pods of a Prometheus with spec.thanos.
	ContainerThanos = "thanos-sidecar"
)

// mergeContainers merges the user's containers into ours. A container with the name of
// one of ours is a strategic merge patch; the others follow in the user's order. The
// order of ours never changes. field is named in errors.
func mergeContainers(field string, ours, user []corev1.Container) ([]corev1.Container, error) {
	var out []corev1.Container
	patched := make(map[string]int)
	for _, own := range ours {
		for _, u := range user {
			if u.Name != own.Name {
				continue
			}
			if patched[own.Name]++; patched[own.Name] > budget.Patches {
				return nil, fmt.Errorf("%s: %q: has more than %d patches: merge them into one", field, u.Name, budget.Patches)
			}
			var err error
			if own, err = mergeContainer(own, u); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", field, u.Name, err)
			}
		}
		out = append(out, *own.DeepCopy())
	}
	for _, u := range user {
		if patched[u.Name] == 0 {
			out = append(out, *u.DeepCopy())
		}
	}
	return out, nil
}

func mergeContainer(base, patch corev1.Container) (corev1.Container, error) {
	baseJSON, err := json.Marshal(base)
	if err != nil {
		return base, fmt.Errorf("encode: %w", err)
	}
	patchJSON, err := json.Marshal(patch)
	if err != nil {
		return base, fmt.Errorf("encode patch: %w", err)
	}
	mergedJSON, err := strategicpatch.StrategicMergePatch(baseJSON, patchJSON, corev1.Container{})
	if err != nil {
		return base, fmt.Errorf("merge: %w", err)
	}
	var merged corev1.Container
	if err := json.Unmarshal(mergedJSON, &merged); err != nil {
		return base, fmt.Errorf("decode: %w", err)
	}
	oneHandler(merged.StartupProbe, patch.StartupProbe)
	oneHandler(merged.ReadinessProbe, patch.ReadinessProbe)
	oneHandler(merged.LivenessProbe, patch.LivenessProbe)
	return merged, nil
}

// oneHandler keeps only the patch's handler if the merged probe has two, because the API
// server accepts only one.
func oneHandler(merged, patch *corev1.Probe) {
	if merged != nil && patch != nil && handlers(merged.ProbeHandler) > 1 {
		merged.ProbeHandler = *patch.ProbeHandler.DeepCopy()
	}
}

func handlers(h corev1.ProbeHandler) int {
	n := 0
	for _, set := range []bool{h.Exec != nil, h.HTTPGet != nil, h.TCPSocket != nil, h.GRPC != nil} {
		if set {
			n++
		}
	}
	return n
}
