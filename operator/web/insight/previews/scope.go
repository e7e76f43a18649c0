package previews

import (
	"context"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers/overlay"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// visibleFinder limits a finder to targets whose labels the caller may see. Redacting the results
// is not enough: the caller writes the relabel steps, so the state of a target reveals its labels.
type visibleFinder struct {
	preview.Finder
	visibility *access.Visibility
}

// visible returns a finder for the visible part of a cluster with manifests applied.
func (p *builder) visible(ctx context.Context, over *overlay.Cluster) preview.Finder {
	all := p.s.Finder(over, discovery.Of(over.Native()))
	visibility := p.a.Visible(p.touched)
	if visibility.All() {
		return all
	}
	visibility.AddNamespaces(ctx, over) // if it fails, only namespaces of the manifests are considered
	return visibleFinder{Finder: all, visibility: visibility}
}

// Find implements [preview.Finder].
func (f visibleFinder) Find(ctx context.Context, jobs []targets.Job, w *preview.Workload) ([]targets.Found, []string, error) {
	of := map[string]catalog.Ref{}
	for _, source := range w.Sources() {
		for i := range source.Compiled {
			of[source.Compiled[i].Name] = source.Ref
		}
	}
	seen, gaps := slices.Clone(jobs), make([][]targets.Gap, len(jobs))
	for i := range jobs {
		seen[i].Kubernetes = nil
		for sd := range discovery.Distinct(&jobs[i]) {
			left, gap := f.visibility.Left(sd, of[jobs[i].Name], w.Namespace)
			if gap != "" {
				gaps[i] = append(gaps[i], targets.Gap{State: targets.Unknown, Message: gap, Refused: true})
			}
			if left != nil {
				seen[i].Kubernetes = append(seen[i].Kubernetes, *left)
			}
		}
	}
	found, notes, err := f.Finder.Find(ctx, seen, w)
	for i := range found {
		found[i].Gaps = append(gaps[i], found[i].Gaps...)
	}
	return found, access.AppendNotes(notes, f.visibility.Unread()...), err
}
