package commands

import (
	"context"

	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/live"
)

// liveTargets finds targets in a cluster, with the permissions of the user.
type liveTargets struct {
	kube    kubernetes.Interface
	applied *discovery.Objects // on top of the cluster; may be nil
}

// Find implements [preview.Finder].
func (l liveTargets) Find(ctx context.Context, jobs []targets.Job, w *preview.Workload) (found []targets.Found, notes []string, err error) {
	answer, err := live.Cluster{Kube: l.kube, Applied: l.applied}.Find(ctx, jobs, live.Workload{Namespace: w.Namespace, ServiceAccount: w.ServiceAccount})
	return answer.Found, answer.Notes, err
}
