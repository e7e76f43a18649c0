package insight

import (
	"context"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers/overlay"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// visibleFinder limits a finder to targets whose labels the caller may see. Redacting the results
// is not enough: the caller writes the relabel steps, so the state of a target reveals its labels.
type visibleFinder struct {
	preview.Finder
	visibility *Visibility
}

// visible returns a finder for the visible part of a cluster with manifests applied.
func (p *previewBuilder) visible(ctx context.Context, over *overlay.Cluster) preview.Finder {
	all := p.c.Finder(over, discovery.Of(over.Native()))
	visibility := &Visibility{asker: p.a, namespaces: slices.Clone(p.touched)}
	if visibility.All() {
		return all
	}
	visibility.add(ctx, over) // if it fails, only namespaces of the manifests are considered
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
	return found, appendNew(notes, f.visibility.asker.unread...), err
}

// maxNamespaces limits the namespaces in a message.
const maxNamespaces = 10

// missing returns a message about the namespaces where targets are hidden. If a job discovers all
// namespaces, it names the visible ones, because the caller may not know the names of the others.
func missing(may, not []string, all, namespaced bool) string {
	lacks := "you may list neither pods nor services"
	if namespaced {
		lacks = "you may not get the namespace, or may list neither pods nor services"
	}
	switch {
	case all && len(may) == 0:
		return fmt.Sprintf("targets are not looked at in any namespace: %s there", lacks)
	case all:
		return fmt.Sprintf("targets are looked at in %s only: in other namespaces %s", inNamespaces(may), lacks)
	}
	return fmt.Sprintf("targets in %s are not looked at: %s there", inNamespaces(not), lacks)
}

// inNamespaces returns "namespace a" or "namespaces a, b".
func inNamespaces(names []string) string {
	text := excerpt.List(names, maxNamespaces)
	if len(names) == 1 {
		return "namespace " + text
	}
	return "namespaces " + text
}
