package insight

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// Rollout implements [Answers].
func (c *Cluster) Rollout(ctx context.Context, r access.Rights, o Object, p Page) (*Rollout, error) {
	w, e, err := c.workload(ctx, o)
	if err != nil {
		return nil, err
	}
	a := w.checker(ctx, r)
	pods := slices.DeleteFunc(e.pods(c.counts(a, e.ref), c.Loaded), func(pod RolloutPod) bool { return !p.has(pod.Name) })
	out := &Rollout{Workload: e.ref, Unread: access.AppendNotes(slices.Clone(e.report.Unread), a.Unread...)}
	out.Pods, out.Part, err = take(pods, p, func(pod *RolloutPod) string {
		return fmt.Sprintf("%08d %08d %s", pod.Shard+1, pod.Replica, pod.Name)
	})
	return out, err
}

// noShard is the shard of a pod whose StatefulSet is obsolete.
const noShard = -1

// pods returns the pods of the workload, sorted by shard and replica.
func (e *entry) pods(counts *TargetCounts, loaded func(*catalog.Row, types.NamespacedName) delivery.Loaded) []RolloutPod {
	by := map[string]*corev1.Pod{}
	for _, p := range e.facts.Pods {
		by[p.Name] = p
	}
	out := make([]RolloutPod, 0, len(by))
	for _, reported := range e.report.Pods {
		p := by[reported.Name]
		pod := RolloutPod{Pod: reported, Node: p.Spec.NodeName, Revision: p.Labels[appsv1.ControllerRevisionHashLabelKey]}
		pod.Shard, pod.Replica = e.place(p.Name)
		if p.Status.StartTime != nil {
			pod.Since = p.Status.StartTime.UTC()
		}
		if loaded != nil {
			got := loaded(e.candidate.Setup.Row, types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
			pod.Loaded, pod.LastReload = got.Hash, got.Reload.UTC().Truncate(time.Millisecond)
		}
		if e.shape.DaemonSet == "" {
			pod.Targets = counts.onShard(pod.Shard)
		}
		out = append(out, pod)
	}
	slices.SortFunc(out, func(a, b RolloutPod) int {
		return cmp.Or(a.Shard-b.Shard, a.Replica-b.Replica, cmp.Compare(a.Name, b.Name))
	})
	return out
}

// place returns the shard and the replica of a pod. All pods of a DaemonSet have shard 0.
func (e *entry) place(pod string) (shard, replica int) {
	if e.shape.DaemonSet != "" {
		return 0, 0
	}
	for i, set := range e.shape.Sets {
		if number, is := strings.CutPrefix(pod, set.Name+"-"); is {
			if n, err := strconv.Atoi(number); err == nil {
				return i, n
			}
		}
	}
	return noShard, 0
}

// onShard returns the number of targets of a shard; nil if it is not known.
func (t *TargetCounts) onShard(shard int) *int {
	if all := t.perShard(); shard != noShard && shard < len(all) {
		return &all[shard]
	}
	return nil
}
