package engine

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

func TestRepair(t *testing.T) {
	stuck := func() setPods {
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
		shards []setPods
		want   []string
	}{
		"nothing is done by default":    {rollout.RepairNone, []setPods{stuck()}, nil},
		"evicted":                       {rollout.RepairEvict, []setPods{stuck()}, []string{"create pods/eviction"}},
		"deleted":                       {rollout.RepairDelete, []setPods{stuck()}, []string{"delete pods/"}},
		"one pod of each shard":         {rollout.RepairDelete, []setPods{stuck(), stuck()}, []string{"delete pods/", "delete pods/"}},
		"an available shard":            {rollout.RepairDelete, []setPods{healthy}, nil},
		"a shard without a StatefulSet": {rollout.RepairDelete, []setPods{{Key: "demo/x"}}, nil},
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

// TestRepairOfAPodThatIsGone: a pod that was deleted or replaced in the meantime is not reported as
// a failed repair.
func TestRepairOfAPodThatIsGone(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, refused := range map[string]error{
		"deleted":  apierrors.NewNotFound(pods, "prometheus-k8s-1"),
		"replaced": apierrors.NewConflict(pods, "prometheus-k8s-1", errors.New("the UID in the precondition (1) does not match the UID in record (2)")),
		"denied":   apierrors.NewForbidden(pods, "prometheus-k8s-1", errors.New("no")),
	} {
		for _, policy := range []rollout.RepairPolicy{rollout.RepairDelete, rollout.RepairEvict} {
			s := shard(0, "ready", "never")
			s.StatefulSet.Status.CurrentRevision = "old"
			for _, p := range s.Pods {
				p.Namespace = "demo"
				p.Labels[appsv1.ControllerRevisionHashLabelKey] = "between"
			}
			kube := fake.NewClientset()
			kube.PrependReactor("*", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
			var log strings.Builder
			c := &Controller{opts: Options{Repair: policy}, log: slog.New(slog.NewTextHandler(&log, nil)), writer: apply.NewWriter(kube, apply.Caches{})}
			c.repair(t.Context(), []setPods{s}, 2)
			if warned := strings.Contains(log.String(), "level=WARN"); warned != (name == "denied") || log.Len() == 0 {
				t.Errorf("%s, %s: %s", name, policy, log.String())
			}
		}
	}
}
