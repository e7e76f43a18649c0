package insight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/applied"
	"github.com/firekeeper-dev/firekeeper/operator/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/online"
	"github.com/firekeeper-dev/firekeeper/operator/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// visibleFinder finds targets only where the caller may see their labels. To hide others after
// they were evaluated is not enough: the caller writes the steps, and what becomes of a target
// says what its labels are.
type visibleFinder struct {
	preview.Finder
	asker *asker
	// namespaces are all that there are, as far as they are known.
	namespaces []string
}

// visible finds what the caller may see of a cluster with manifests applied.
func (p *previewing) visible(ctx context.Context, over *applied.Cluster) preview.Finder {
	all := p.c.Finder(over, over.Discovered())
	if p.a.listsTargets("") && p.a.listsNodes() && p.a.mayAny("list", online.Namespaces.GroupResource(), "") {
		return all
	}
	out := visibleFinder{Finder: all, asker: p.a, namespaces: slices.Clone(p.touched)}
	list, _ := over.List(ctx, online.Query{GroupVersionResource: online.Namespaces}) // without it, those of the manifests are looked at
	for _, n := range list {
		out.namespaces = append(out.namespaces, n.GetName())
	}
	return out
}

// Find implements [preview.Finder].
func (f visibleFinder) Find(ctx context.Context, jobs []targets.Job, w *preview.Workload) ([]targets.Found, []string, error) {
	of := map[string]explain.Ref{}
	for _, source := range w.Sources() {
		for i := range source.Compiled {
			of[source.Compiled[i].Name] = source.Ref
		}
	}
	seen, gaps := slices.Clone(jobs), make([][]targets.Gap, len(jobs))
	for i := range jobs {
		seen[i].Kubernetes = nil
		for sd := range discovery.Distinct(&jobs[i]) {
			left, gap := f.left(sd, of[jobs[i].Name], w.Namespace)
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
	return found, appendNew(notes, f.asker.unread...), err
}

// left is what of a discovery of an object's job the caller may see, nil for nothing, and what is
// missing. own is the namespace of the workload.
func (f visibleFinder) left(sd *targets.KubernetesSD, of explain.Ref, own string) (left *targets.KubernetesSD, gap string) {
	kinds := discovery.Kinds(sd)
	if kinds == nil || discovery.OtherCluster(sd) != "" {
		return sd, "" // nothing is found
	}
	namespaced := false // labels of namespaces are added
	for _, kind := range kinds {
		switch kind.Resource {
		case online.Nodes:
			if !f.asker.listsNodes() {
				return nil, "targets with labels of nodes are not looked at: you may not list nodes"
			}
		case online.Namespaces:
			namespaced = true
		}
	}
	scopes, all := discovery.Namespaces(sd, own), false
	switch {
	case kinds[0].ClusterScoped:
		return sd, ""
	case len(scopes) == 0:
		if !namespaced && f.asker.listsTargets("") {
			return sd, ""
		}
		scopes, all = append([]string{own, of.Namespace}, f.namespaces...), true
		slices.Sort(scopes)
		scopes = slices.DeleteFunc(slices.Compact(scopes), func(n string) bool { return n == "" }) // stands for all
	}
	var may, not []string
	for _, n := range scopes {
		if f.asker.sees("", n, of) && (!namespaced || f.asker.mayAny("get", online.Namespaces.GroupResource(), n)) {
			may = append(may, n)
		} else {
			not = append(not, n)
		}
	}
	switch {
	case len(not) == 0:
		return sd, ""
	case len(may) > 0:
		out := *sd
		out.Namespaces = targets.Namespaces{Names: may}
		left = &out
	}
	return left, missing(may, not, all, namespaced)
}

// maxNamespaces bounds those that a sentence names.
const maxNamespaces = 10

// missing says in which namespaces nothing is looked at. Where a job looks into all, it names
// those that are left: the caller may not know the names of the others.
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

// inNamespaces is "namespace a", or "namespaces a, b".
func inNamespaces(names []string) string {
	text := strings.Join(names[:min(len(names), maxNamespaces)], ", ")
	if n := len(names) - maxNamespaces; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if len(names) == 1 {
		return "namespace " + text
	}
	return "namespaces " + text
}
