package watch

import (
	"slices"

	"github.com/prometheus/prometheus/discovery/targetgroup"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// EachOver is like [Subscription.Each] with objects applied on top of those of the cluster. sd is
// the discovery of the subscription. Groups in the namespaces of the objects are rebuilt; they only
// have labels of pods in the same namespace.
//
// Errors: a selector that cannot be applied to the objects.
func (s *Subscription) EachOver(sd *targets.KubernetesSD, objects *discovery.Objects, each func(*targetgroup.Group)) error {
	touched := slices.DeleteFunc(objects.Touched(sd), func(namespace string) bool { return s.leaseOf(namespace) == nil })
	s.Each(func(group *targetgroup.Group) {
		if !slices.Contains(touched, namespaceOf(group.Source)) {
			each(group)
		}
	})
	for _, namespace := range touched {
		all, err := s.over(sd, objects, namespace)
		if err != nil {
			return err
		}
		groups, err := all.Groups(sd, namespace)
		if err != nil {
			return err
		}
		for _, group := range groups {
			each(group)
		}
	}
	return nil
}

// over returns the objects from which the groups in a namespace are built.
func (s *Subscription) over(sd *targets.KubernetesSD, objects *discovery.Objects, namespace string) (*discovery.Objects, error) {
	out := &discovery.Objects{}
	for _, source := range s.leaseOf(namespace).view.sources {
		label, field, err := discovery.Selectors(sd, source.kind.Role)
		if err != nil {
			return nil, err
		}
		in := namespace
		if source.kind.ClusterScoped {
			in = ""
		}
		all, err := objects.Over(source.objects(in), source.kind.Role, in, label, field)
		if err != nil {
			return nil, err
		}
		out.Join(all)
	}
	return out, nil
}

// leaseOf returns the lease with the groups of a namespace; nil if the subscription does not cover
// it.
func (s *Subscription) leaseOf(namespace string) *lease {
	for i, l := range s.leases {
		if slices.Contains(s.scopes[i], "") || slices.Contains(s.scopes[i], namespace) {
			return l
		}
	}
	return nil
}

// objects returns the objects of a namespace, "" for all.
func (s *source) objects(namespace string) *discovery.Objects {
	store := s.informer.GetIndexer()
	found := []any(nil)
	if namespace == "" {
		found = store.List()
	} else {
		found, _ = store.ByIndex(cache.NamespaceIndex, namespace) // all namespaced kinds have the index
	}
	out := &discovery.Objects{}
	for _, object := range found {
		out.Take(discovery.Unpack(object).(discovery.Object))
	}
	return out
}
