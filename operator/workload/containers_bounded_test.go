package workload

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
)

// The most expensive patches within the limits of an object cost little: all of them for one container, which the first
// ones make large.
func TestPatchesAreBounded(t *testing.T) {
	ours := []corev1.Container{{
		Name: "prometheus", Env: []corev1.EnvVar{{Name: "A"}}, Ports: []corev1.ContainerPort{{ContainerPort: 9090}},
		VolumeMounts: []corev1.VolumeMount{{Name: "a", MountPath: "/a"}},
	}}
	patches := make([]corev1.Container, budget.Patches)
	for i := range patches {
		patches[i].Name = "prometheus"
	}
	for i := range budget.ContainerItems {
		to := &patches[i%len(patches)]
		to.Env = append(to.Env, corev1.EnvVar{Name: fmt.Sprint("V", i)})
		to.Ports = append(to.Ports, corev1.ContainerPort{ContainerPort: int32(i + 1)})
		to.VolumeMounts = append(to.VolumeMounts, corev1.VolumeMount{Name: "a", MountPath: fmt.Sprint("/", i)})
	}
	budgettest.AtMost(t, "patches", 512<<20, func() {
		merged, err := mergeContainers("spec.containers", ours, patches)
		if err != nil || len(merged) != 1 || len(merged[0].Env) != budget.ContainerItems+1 {
			t.Errorf("%d containers, %v", len(merged), err)
		}
	})
	if _, err := mergeContainers("spec.containers", ours, append(patches, patches[0])); err == nil {
		t.Error("one patch more is merged, too")
	}
}
