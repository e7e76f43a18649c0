package prometheus

import (
	"context"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/informer"
)

// How often the objects are read that the operator may not watch.
const (
	// NamespacePoll is the pause between two reads of the watched namespaces.
	NamespacePoll = 15 * time.Second
	// ServicePoll is the pause between two reads of the governing Services.
	ServicePoll = time.Minute
	// PodPoll is the pause between two lists of pods while all are as wanted.
	PodPoll = time.Minute
	// BusyPodPoll is the same while some are not.
	BusyPodPoll = 5 * time.Second
)

// workloads are the owners of one kind, for what is read by their names.
type workloads struct {
	owners ownerStore
	mine   func(Owner) bool
	// service is the name of an owner's governing Service.
	service func(Owner) types.NamespacedName
	// rolledOut reports whether the pods of all workloads are as wanted.
	rolledOut func() bool
}

// join makes the owners of one kind known to the sources.
func (s *Sources) join(w workloads) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workloads = append(s.workloads, w)
}

func (s *Sources) joined() []workloads {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.workloads)
}

// mineOf are the owners that the operator is responsible for.
func (w workloads) mineOf() iter.Seq[Owner] {
	return func(yield func(Owner) bool) {
		for o := range w.owners.All() {
			if w.mine(o) && !yield(o) {
				return
			}
		}
	}
}

// governing names the Services of all owners, once these are known.
func (s *Sources) governing(ctx context.Context) ([]types.NamespacedName, error) {
	seen := map[types.NamespacedName]bool{}
	var out []types.NamespacedName
	for _, w := range s.joined() {
		if err := w.owners.Wait(ctx); err != nil {
			return nil, err
		}
		for o := range w.mineOf() {
			if name := w.service(o); !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// unsettled reports whether pods are about to change.
func (s *Sources) unsettled() bool {
	return slices.ContainsFunc(s.joined(), func(w workloads) bool {
		for o := range w.mineOf() {
			if !asWanted(o) {
				return true
			}
		}
		return !w.rolledOut()
	})
}

// rolledOut reports whether the StatefulSets and DaemonSets of our owners say that
// all of their pods are up to date and ready.
func (c *Controller) rolledOut() bool {
	for set := range c.stores.statefulSets.All() {
		want, now := valueOr(set.Spec.Replicas, 1), set.Status
		done := now.ObservedGeneration >= set.Generation && now.Replicas == want && now.ReadyReplicas == want && now.UpdatedReplicas == want
		if !done && len(c.ownersOf(set)) > 0 {
			return false
		}
	}
	if c.stores.daemonSets == nil {
		return true
	}
	for set := range c.stores.daemonSets.All() {
		want, now := set.Status.DesiredNumberScheduled, set.Status
		done := now.ObservedGeneration >= set.Generation && now.NumberReady == want && now.UpdatedNumberScheduled == want
		if !done && len(c.ownersOf(set)) > 0 {
			return false
		}
	}
	return true
}

// podPoll reads pods where they may not be watched.
func (s *Sources) podPoll() *informer.Poll {
	return &informer.Poll{Every: PodPoll, Soon: BusyPodPoll, Busy: s.unsettled}
}

// servicePoll reads Services where they may not be watched.
func (s *Sources) servicePoll() *informer.Poll {
	return &informer.Poll{Every: ServicePoll, Names: s.governing}
}

// namespacePoll reads the namespaces of a list where they may not be watched; nil
// when the operator works in all of them.
func (s Scopes) namespacePoll() *informer.Poll {
	scope := s.Configs.Union(s.Instances)
	if scope.All() {
		return nil
	}
	return &informer.Poll{
		Every: NamespacePoll,
		Names: func(context.Context) ([]types.NamespacedName, error) {
			var out []types.NamespacedName
			for _, name := range scope.Watches() {
				out = append(out, types.NamespacedName{Name: name})
			}
			return out, nil
		},
		// The API server gives this label to every namespace.
		Unreadable: func(name types.NamespacedName) informer.Object {
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name.Name, Labels: map[string]string{corev1.LabelMetadataName: name.Name}}}
		},
	}
}
