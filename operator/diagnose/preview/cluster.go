package preview

import (
	"context"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
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
	wanted := readers.Wanted{NamespaceLabels: true, Complete: true}
	for _, s := range setups {
		if slices.Contains(Kinds, s.Row) {
			wanted.Kinds = append(wanted.Kinds, readers.Kind{Row: s.Row, In: s.Instances})
		}
	}
	for _, row := range Sources {
		wanted.Kinds = append(wanted.Kinds, readers.Kind{Row: row, In: scopes.For(row)})
	}
	read := readers.Read(ctx, r, wanted)
	out := engine.Cluster{References: r.References(ctx), NamespaceLabels: read.NamespaceLabels}
	if len(read.Missing) > 0 {
		return nil, out, read.Missing[0]
	}
	objects := manifests.New(explain.Kinds(setups))
	for _, k := range wanted.Kinds {
		for _, o := range read.Objects[k.Row] {
			objects.Add(k.Row, o)
			if set, exists := out.NamespaceLabels(o.GetNamespace()); exists && !k.IsWorkload() {
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
