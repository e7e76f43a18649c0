package insight

import (
	"context"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Visibility is the part of a cluster in which a caller may see discovered objects. Relabel steps can
// reveal labels through the state of targets and even through their number, so targets outside of
// it must not be evaluated for the caller.
type Visibility struct {
	asker *asker
	// own is the namespace of the requested object, which the caller may get.
	own string
	// namespaces are all known namespaces of the cluster.
	namespaces []string
}

// NewVisibility returns the part of a cluster that the caller may see. own is the namespace of an object
// that the caller may get. If r is nil, nothing else is visible.
func NewVisibility(ctx context.Context, r Rights, own string, of readers.Reader) *Visibility {
	if r == nil {
		r = noPermissions{}
	}
	s := &Visibility{asker: asking(ctx, r), own: own}
	if !s.All() {
		s.add(ctx, of)
	}
	return s
}

// add adds the namespaces of a cluster.
func (s *Visibility) add(ctx context.Context, of readers.Reader) {
	list, _ := of.List(ctx, readers.Query{GroupVersionResource: readers.Namespaces}) // if it fails, only the namespaces of jobs are considered
	for _, n := range list {
		s.namespaces = append(s.namespaces, n.GetName())
	}
}

// All reports whether the caller may see everything.
func (s *Visibility) All() bool {
	return s.asker.listsTargets("") && s.asker.listsNodes() && s.asker.mayAny("list", readers.Namespaces.GroupResource(), "")
}

// Foreign reports whether the caller may see labels of pods of any namespace.
func (s *Visibility) Foreign() bool { return s.asker.listsTargets("") }

// Unread returns the errors of failed permission checks. They count as denied.
func (s *Visibility) Unread() []string { return s.asker.unread }

func (s *Visibility) sees(namespace string, of catalog.Ref) bool {
	return namespace == s.own || s.asker.sees("", namespace, of)
}

// Left returns the visible part of a discovery of an object's job, nil if there is none, and a
// message about the hidden part. own is the namespace of the workload.
func (s *Visibility) Left(sd *targets.KubernetesSD, of catalog.Ref, own string) (left *targets.KubernetesSD, gap string) {
	kinds := discovery.Kinds(sd)
	if kinds == nil || discovery.OtherCluster(sd) != "" {
		return sd, "" // finds nothing
	}
	namespaced := false // adds labels of namespaces
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
		scopes = slices.DeleteFunc(slices.Compact(scopes), func(n string) bool { return n == "" }) // means all
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
