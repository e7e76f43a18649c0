package engine

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// repair removes at most one pod per unavailable StatefulSet: a pod that blocks a rollout. Failures
// are only logged; the status update continues.
func (c *Controller) repair(ctx context.Context, sets []setPods, expected int32) {
	if c.opts.Repair != rollout.RepairEvict && c.opts.Repair != rollout.RepairDelete {
		return
	}
	for _, s := range sets {
		if s.StatefulSet == nil || s.StatefulSet.DeletionTimestamp != nil ||
			readinessOf(s, countPods(s).AvailableReplicas, expected).status == v1.ConditionTrue {
			continue
		}
		pod := rollout.Stuck(s.StatefulSet, s.Pods, PodReady)
		if pod == nil {
			continue
		}
		remove := c.writer.DeletePod
		if c.opts.Repair == rollout.RepairEvict {
			remove = c.writer.EvictPod
		}
		log := c.log.With("statefulset", s.Key, "pod", pod.Name, "policy", string(c.opts.Repair))
		switch err := remove(ctx, pod); {
		case apierrors.IsNotFound(err), apierrors.IsConflict(err): // another pod has its name
			log.Info("pod that blocked a rollout was replaced meanwhile")
			continue
		case err != nil:
			log.Warn("failed to repair a stuck rollout", "err", err)
			continue
		}
		log.Info("removed pod that blocked a rollout")
	}
}
