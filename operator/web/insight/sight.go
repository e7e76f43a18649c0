package insight

import (
	"context"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Sight is where a caller may see what targets are found in. Whoever writes relabel steps
// learns labels from what becomes of targets, from their number too: what a caller may not
// see must not be evaluated for the caller.
type Sight struct {
	asker *asker
	// own is a namespace of which the caller may get the object that the question is about.
	own string
	// namespaces are all that there are, as far as they are known.
	namespaces []string
}

// NewSight returns what a caller may see of a cluster. own is the namespace of an object that
// the caller may get. Without rights, nothing else is seen.
func NewSight(ctx context.Context, r Rights, own string, of readers.Reader) *Sight {
	if r == nil {
		r = nobody{}
	}
	s := &Sight{asker: asking(ctx, r), own: own}
	if !s.All() {
		s.add(ctx, of)
	}
	return s
}

// add adds the namespaces of a cluster.
func (s *Sight) add(ctx context.Context, of readers.Reader) {
	list, _ := of.List(ctx, readers.Query{GroupVersionResource: readers.Namespaces}) // without it, those that jobs name are seen
	for _, n := range list {
		s.namespaces = append(s.namespaces, n.GetName())
	}
}

// All reports whether the caller may see everything.
func (s *Sight) All() bool {
	return s.asker.listsTargets("") && s.asker.listsNodes() && s.asker.mayAny("list", readers.Namespaces.GroupResource(), "")
}

// Foreign reports whether the caller may see labels of pods of any namespace.
func (s *Sight) Foreign() bool { return s.asker.listsTargets("") }

// Unread is what nobody could say about the caller; then nothing is seen there.
func (s *Sight) Unread() []string { return s.asker.unread }

func (s *Sight) sees(namespace string, of catalog.Ref) bool {
	return namespace == s.own || s.asker.sees("", namespace, of)
}

// Left is what of a discovery of an object's job the caller may see, nil for nothing, and what is
// missing. own is the namespace of the workload.
func (s *Sight) Left(sd *targets.KubernetesSD, of catalog.Ref, own string) (left *targets.KubernetesSD, gap string) {
	kinds := discovery.Kinds(sd)
	if kinds == nil || discovery.OtherCluster(sd) != "" {
		return sd, "" // nothing is found
	}
	namespaced := false // labels of namespaces are added
	for _, kind := range kinds {
		switch kind.Resource {
		case readers.Nodes:
			if !s.asker.listsNodes() {
				return nil, "targets with labels of nodes are not looked at: you may not list nodes"
			}
		case readers.Namespaces:
			namespaced = true
		}
	}
	scopes, all := discovery.Namespaces(sd, own), false
	switch {
	case kinds[0].ClusterScoped:
		return sd, ""
	case len(scopes) == 0:
		if !namespaced && s.asker.listsTargets("") {
			return sd, ""
		}
		scopes, all = append([]string{own, of.Namespace, s.own}, s.namespaces...), true
		slices.Sort(scopes)
		scopes = slices.DeleteFunc(slices.Compact(scopes), func(n string) bool { return n == "" }) // stands for all
	}
	var may, not []string
	for _, n := range scopes {
		if s.sees(n, of) && (!namespaced || s.asker.mayAny("get", readers.Namespaces.GroupResource(), n)) {
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
