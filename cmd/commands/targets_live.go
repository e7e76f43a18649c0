package commands

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/discovery/live"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/offline"
	"github.com/firekeeper-dev/firekeeper/operator/online"
	"github.com/firekeeper-dev/firekeeper/operator/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// liveTargets is a cluster in which targets are found, with the rights of whoever asks.
type liveTargets struct {
	kube    kubernetes.Interface
	applied *discovery.Objects // over what the cluster has; may be nil
}

// Find implements preview.Finder.
func (l liveTargets) Find(ctx context.Context, jobs []targets.Job, w *preview.Workload) (found []targets.Found, notes []string, err error) {
	answer, err := live.Cluster{Kube: l.kube, Applied: l.applied}.Find(ctx, jobs, live.Workload{Namespace: w.Namespace, ServiceAccount: w.ServiceAccount})
	return answer.Found, answer.Notes, err
}

// readTargets reads the workloads that scrape, what they can select, and the labels of namespaces.
//
// Errors: something of it may not be read.
func readTargets(ctx context.Context, r online.Reader, setups []engine.Setup, scopes engine.Scopes) (*offline.Objects, engine.Cluster, error) {
	objects, out := offline.New(explain.Kinds(setups)), engine.Cluster{References: r.References(ctx)}
	read := func(row *catalog.Row, in informer.Namespaces) error {
		list, err := online.Watched(ctx, r, row, in)
		if err != nil {
			return fmt.Errorf("list %s (--namespaces and --%s-instance-namespaces limit the namespaces): %w", row.Resource, catalog.Prometheus.Flags, err)
		}
		for _, o := range list {
			objects.Add(row, o)
		}
		return nil
	}
	for _, s := range setups {
		if !slices.Contains(preview.Kinds, s.Row) {
			continue
		}
		if err := read(s.Row, s.Instances); err != nil {
			return nil, out, err
		}
	}
	for _, row := range scrapeRows {
		if err := read(row, scopes.For(row)); err != nil {
			return nil, out, err
		}
	}
	var err error
	if out.NamespaceLabels, err = online.AllNamespaceLabels(ctx, r); err != nil {
		return nil, out, fmt.Errorf("list namespaces, whose labels decide what workloads select: %w", err)
	}
	return objects, out, nil
}
