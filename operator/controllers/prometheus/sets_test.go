package prometheus

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// TestAChangedMonitorBuildsNoStatefulSet: the StatefulSets of a workload are built again after a change of the workload
// or of what its pods mount, and not after a change of what it selects.
func TestAChangedMonitorBuildsNoStatefulSet(t *testing.T) {
	services := serviceMonitors(10)
	b := pass(&services)
	b.owner.ResourceVersion = "1"
	built := func() *appsv1.StatefulSet {
		t.Helper()
		in, err := b.gather(forServer(b.owner.DeepCopy()), b.cluster)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := in.Plan()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range plan.Workload {
			if set, is := s.Object.(*appsv1.StatefulSet); is {
				return set
			}
		}
		t.Fatal("there is no StatefulSet")
		return nil
	}
	first := built()
	changeMonitor(services, 1)
	if built() != first {
		t.Error("a changed monitor builds the StatefulSet again")
	}
	live := first.DeepCopy()
	live.Generation = 2
	live.Spec.MinReadySeconds = 7
	b.cluster.Live.StatefulSets = map[string]*appsv1.StatefulSet{live.Name: live}
	edited := built()
	if edited == first {
		t.Error("a StatefulSet that another client has edited is not built again")
	}
	b.owner.ResourceVersion, b.owner.Spec.PriorityClassName = "2", "high"
	if got := built(); got == edited || got.Spec.Template.Spec.PriorityClassName != "high" {
		t.Errorf("after a change of the workload, its pods have the class %q", got.Spec.Template.Spec.PriorityClassName)
	}
}
