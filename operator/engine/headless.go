package engine

import (
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// noteService sets the fault of the governing Service that was written, and logs each fault once. A Service of others that
// was taken over may have a cluster IP, which is immutable, and which others may use: it is not recreated.
func (c *Controller) noteService(log *slog.Logger, state *memory, plan *Plan) {
	for _, s := range plan.Workload {
		want, is := s.Object.(*corev1.Service)
		if !is || s.Verb != apply.Put || want.Spec.ClusterIP != corev1.ClusterIPNone {
			continue
		}
		live, ok := c.writer.Services().Get(want.Namespace, want.Name)
		if ok && live.Spec.ClusterIP != "" && live.Spec.ClusterIP != corev1.ClusterIPNone {
			plan.service = fmt.Sprintf("Service %q has the cluster IP %s, so that the host names of pods, by which they find each other, do not resolve: delete the Service, and the operator creates a headless one",
				want.Name, live.Spec.ClusterIP)
		}
	}
	if plan.service != "" && plan.service != state.headless {
		log.Warn("governing Service is not headless", "fault", plan.service)
	}
	state.headless = plan.service
}
