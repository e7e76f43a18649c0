package preview

import (
	"context"

	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
)

// Live is a [Finder] that discovers targets in a cluster, with the permissions of the caller.
type Live struct {
	Kube    kubernetes.Interface
	Applied *discovery.Objects // on top of the cluster; may be nil
	// Brief is true if the labels of targets that are dropped with their whole group are not needed.
	Brief bool
}

// Find implements [Finder].
func (l Live) Find(ctx context.Context, jobs []targets.Job, w *Workload) (found []targets.Found, notes []string, err error) {
	answer, err := lister.Cluster{Kube: l.Kube, Applied: l.Applied, Brief: l.Brief}.Find(ctx, jobs, lister.Workload{Namespace: w.Namespace, ServiceAccount: w.ServiceAccount})
	return answer.Found, answer.Notes, err
}
