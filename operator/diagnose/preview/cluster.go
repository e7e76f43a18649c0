package preview

import (
	"context"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Sources are the kinds of objects that define targets.
var Sources = []*catalog.Row{catalog.ServiceMonitor, catalog.PodMonitor, catalog.Probe, catalog.ScrapeConfig}

// Gather reads the workloads that scrape, the objects they can select, and namespace labels. The
// returned cluster has references and labels, but no objects.
//
// Errors: those of the API server, for example when a list is forbidden.
func Gather(ctx context.Context, r readers.Reader, setups []engine.Setup, scopes engine.Scopes) (*manifests.Objects, engine.Cluster, error) {
	objects, out := manifests.New(explain.Kinds(setups)), engine.Cluster{References: r.References(ctx)}
	read := func(row *catalog.Row, in informer.Namespaces) error {
		list, err := readers.Watched(ctx, r, row, in)
		if err != nil {
			return fmt.Errorf("list %s (--namespaces and --%s-instance-namespaces limit the namespaces): %w", row.Resource, catalog.Prometheus.Flags, err)
		}
		for _, o := range list {
			objects.Add(row, o)
		}
		return nil
	}
	for _, s := range setups {
		if !slices.Contains(Kinds, s.Row) {
			continue
		}
		if err := read(s.Row, s.Instances); err != nil {
			return nil, out, err
		}
	}
	for _, row := range Sources {
		if err := read(row, scopes.For(row)); err != nil {
			return nil, out, err
		}
	}
	var err error
	if out.NamespaceLabels, err = readers.AllNamespaceLabels(ctx, r); err != nil {
		return nil, out, fmt.Errorf("list namespaces, whose labels decide what workloads select: %w", err)
	}
	for _, row := range Sources {
		for _, o := range objects.All(row) {
			if set, exists := out.NamespaceLabels(o.GetNamespace()); exists {
				objects.SetNamespace(o.GetNamespace(), set)
			}
		}
	}
	return objects, out, nil
}

// Has reports whether the workload has jobs of an object, or would have them if it were not
// rejected.
func (w *Workload) Has(object catalog.Ref) bool {
	return slices.ContainsFunc(w.parts, func(p part) bool { return p.object.Ref == object })
}
