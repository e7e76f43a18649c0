package access

import (
	"context"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Visibility is the part of a cluster in which a caller may see discovered objects. Relabel steps can
// reveal labels through the state of targets and even through their number, so targets outside of
// it must not be evaluated for the caller.
type Visibility struct {
	caller *Checker
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
	s := &Visibility{caller: NewChecker(ctx, r), own: own}
	if !s.All() {
		s.AddNamespaces(ctx, of)
	}
	return s
}

// Visible returns what the caller of a checker may see of a cluster with some known namespaces.
func (a *Checker) Visible(namespaces []string) *Visibility {
	return &Visibility{caller: a, namespaces: slices.Clone(namespaces)}
}

// AddNamespaces adds the namespaces of a cluster.
func (s *Visibility) AddNamespaces(ctx context.Context, of readers.Reader) {
	list, _ := of.List(ctx, readers.Query{GroupVersionResource: readers.Namespaces}) // if it fails, only the namespaces of jobs are considered
	for _, n := range list {
		s.namespaces = append(s.namespaces, n.GetName())
	}
}

// All reports whether the caller may see everything.
func (s *Visibility) All() bool {
	return s.caller.ListsTargets("") && s.caller.ListsNodes() && s.caller.MayResource("list", readers.Namespaces.GroupResource(), "")
}

// Foreign reports whether the caller may see labels of pods of any namespace.
func (s *Visibility) Foreign() bool { return s.caller.ListsTargets("") }

// Unread returns the errors of failed permission checks. They count as denied.
func (s *Visibility) Unread() []string { return s.caller.Unread }

func (s *Visibility) sees(namespace string, of catalog.Ref) bool {
	return namespace == s.own || s.caller.SeesTargets("", namespace, of)
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
			if !s.caller.ListsNodes() {
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
		if !namespaced && s.caller.ListsTargets("") {
			return sd, ""
		}
		scopes, all = append([]string{own, of.Namespace, s.own}, s.namespaces...), true
		slices.Sort(scopes)
		scopes = slices.DeleteFunc(slices.Compact(scopes), func(n string) bool { return n == "" }) // means all
	}
	var may, not []string
	for _, n := range scopes {
		if s.sees(n, of) && (!namespaced || s.caller.MayResource("get", readers.Namespaces.GroupResource(), n)) {
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
