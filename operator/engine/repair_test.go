package engine

import (
	"log/slog"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/rollout"
)

func TestRepair(t *testing.T) {
	stuck := func() SetPods {
		s := shard(0, "ready", "never")
		s.StatefulSet.Status.CurrentRevision = "old"
		for _, p := range s.Pods {
			p.Namespace = "demo"
			p.Labels[appsv1.ControllerRevisionHashLabelKey] = "between"
		}
		return s
	}
	healthy := stuck()
	healthy.Pods[1].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for name, tc := range map[string]struct {
		policy rollout.RepairPolicy
		shards []SetPods
		want   []string
	}{
		"nothing is done by default":    {rollout.RepairNone, []SetPods{stuck()}, nil},
		"evicted":                       {rollout.RepairEvict, []SetPods{stuck()}, []string{"create pods/eviction"}},
		"deleted":                       {rollout.RepairDelete, []SetPods{stuck()}, []string{"delete pods/"}},
		"one pod of each shard":         {rollout.RepairDelete, []SetPods{stuck(), stuck()}, []string{"delete pods/", "delete pods/"}},
		"an available shard":            {rollout.RepairDelete, []SetPods{healthy}, nil},
		"a shard without a StatefulSet": {rollout.RepairDelete, []SetPods{{Key: "demo/x"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientset()
			c := &Controller{opts: Options{Repair: tc.policy}, log: slog.New(slog.DiscardHandler), writer: apply.NewWriter(kube, apply.Caches{})}
			c.repair(t.Context(), tc.shards, 2)
			var got []string
			for _, a := range kube.Actions() {
				got = append(got, a.GetVerb()+" "+a.GetResource().Resource+"/"+a.GetSubresource())
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
