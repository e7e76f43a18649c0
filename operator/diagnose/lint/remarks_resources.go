package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// resourceRemarks reports requests and limits in a probably unintended unit.
func (l *linter) resourceRemarks(self Finding, w dryrun.Workload) {
	say := l.say(self)
	f := w.Object.GetWorkloadFields()
	amounts(say, "spec.resources", f.Resources)
	for i := range f.Containers {
		amounts(say, fmt.Sprintf("spec.containers[%d].resources", i), f.Containers[i].Resources)
	}
	for i := range f.InitContainers {
		amounts(say, fmt.Sprintf("spec.initContainers[%d].resources", i), f.InitContainers[i].Resources)
	}
	if p, is := w.Object.(*v1.Prometheus); is && p.Spec.Thanos != nil {
		amounts(say, "spec.thanos.resources", p.Spec.Thanos.Resources)
	}
	if s := f.Storage; s != nil {
		amountsOf(say, "spec.storage.volumeClaimTemplate.spec.resources.requests", s.VolumeClaimTemplate.Spec.Resources.Requests)
	}
}

func amounts(say says, field string, r corev1.ResourceRequirements) {
	for part, list := range map[string]corev1.ResourceList{".requests": r.Requests, ".limits": r.Limits} {
		for name := range list {
			if meant := strings.ToLower(string(name)); !strings.Contains(meant, "/") && !knownResource(string(name)) {
				advice := "there are cpu, memory and ephemeral-storage; others have a domain, such as nvidia.com/gpu"
				if knownResource(meant) {
					advice = "write " + meant
				}
				say(field+part+"."+string(name), "is not a resource of containers, so the API server refuses the pods; %s", advice)
			}
		}
	}
	amountsOf(say, field+".requests", r.Requests)
	amountsOf(say, field+".limits", r.Limits)
}

// knownResource reports whether Kubernetes knows a resource of containers without a domain.
func knownResource(name string) bool {
	return slices.Contains([]string{"cpu", "memory", "ephemeral-storage"}, name) || strings.HasPrefix(name, "hugepages-")
}

const (
	// leastBytes is less than any program needs.
	leastBytes = 1 << 20
	// mostCPUs is more than most nodes have.
	mostCPUs = 100
)

func amountsOf(say says, field string, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		switch name {
		case corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage:
			if !q.IsZero() && q.Cmp(*resource.NewQuantity(leastBytes, resource.BinarySI)) < 0 {
				say(field+"."+string(name), "%s is less than 1 MiB (m are thousandths of a byte, and a number without unit is bytes); write a unit such as Mi or Gi", q.String())
			}
		case corev1.ResourceCPU:
			if q.Cmp(*resource.NewQuantity(mostCPUs, resource.DecimalSI)) >= 0 {
				say(field+"."+string(name), "%s are whole CPUs, more than most nodes have, and then no pod starts; thousandths have the unit m", q.String())
			}
		}
	}
}
