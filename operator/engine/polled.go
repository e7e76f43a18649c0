package engine

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Polling intervals of objects that the operator may not watch.
const (
	// namespacePoll is the pause between two reads of the watched namespaces.
	namespacePoll = 15 * time.Second
	// ServicePoll is the pause between two reads of the governing Services.
	ServicePoll = time.Minute
	// podPoll is the pause between two lists of pods while all are as wanted.
	podPoll = time.Minute
	// busyPodPoll is the pause while some are not.
	busyPodPoll = 5 * time.Second
	// NamedPoll is the pause between two reads of a referenced or generated Secret or ConfigMap.
	NamedPoll = 40 * time.Second
	// namedRate is the maximum number of Secrets and ConfigMaps read per second.
	namedRate = 50
)

// managed iterates over the workloads that the operator is responsible for.
func (c *Controller) managed() iter.Seq[v1.Workload] {
	return func(yield func(v1.Workload) bool) {
		for w := range c.stores.workloads.all() {
			if c.manages(w) && !yield(w) {
				return
			}
		}
	}
}

// governing returns the names of the Services of all workloads of the kinds whose Services carry
// the given labels. It waits until the workloads are cached.
func (s *Sources) governing(ctx context.Context, labels string) ([]types.NamespacedName, error) {
	seen := map[types.NamespacedName]bool{}
	var out []types.NamespacedName
	for _, c := range s.controllers() {
		if c.kind.Names.OperatedLabel != labels {
			continue
		}
		if err := c.stores.workloads.Wait(ctx); err != nil {
			return nil, err
		}
		for w := range c.managed() {
			c.guarded("name the Service of "+catalog.KeyOf(w).String(), func() {
				name := types.NamespacedName{Namespace: w.GetNamespace(), Name: c.kind.Shape(w).Service.Name}
				if !seen[name] {
					seen[name] = true
					out = append(out, name)
				}
			})
		}
	}
	return out, nil
}

// unsettled reports whether pods are about to change.
func (s *Sources) unsettled() bool {
	return slices.ContainsFunc(s.controllers(), func(c *Controller) bool {
		wanted := true
		for w := range c.managed() {
			c.guarded("compare status of "+catalog.KeyOf(w).String(), func() { wanted = wanted && c.asWanted(w) })
		}
		return !wanted || !c.rolledOut()
	})
}

// rolledOut reports whether, according to the statuses of our workloads' StatefulSets and
// DaemonSets, all of their pods are up to date and ready.
func (c *Controller) rolledOut() bool {
	for set := range c.stores.statefulSets.All() {
		want, now := ptr.Deref(set.Spec.Replicas, 1), set.Status
		done := now.ObservedGeneration >= set.Generation && now.Replicas == want && now.ReadyReplicas == want && now.UpdatedReplicas == want
		if !done && len(c.workloadsOf(set)) > 0 {
			return false
		}
	}
	if c.stores.daemonSets == nil {
		return true
	}
	for set := range c.stores.daemonSets.All() {
		want, now := set.Status.DesiredNumberScheduled, set.Status
		done := now.ObservedGeneration >= set.Generation && now.NumberReady == want && now.UpdatedNumberScheduled == want
		if !done && len(c.workloadsOf(set)) > 0 {
			return false
		}
	}
	return true
}

// referredPoll returns a poll of the referenced Secrets or ConfigMaps, for namespaces in which they
// may not be watched.
func (s *Sources) referredPoll(r *references, kind assets.Kind) *informer.Poll {
	return s.namedPoll(kind, func(context.Context) ([]types.NamespacedName, error) {
		seen := map[types.NamespacedName]bool{}
		for _, c := range s.controllers() {
			if c.stores.refs == r {
				c.referred(kind, seen)
			}
		}
		return slices.Collect(maps.Keys(seen)), nil
	})
}

// referred collects the references of the workloads.
func (c *Controller) referred(kind assets.Kind, into map[types.NamespacedName]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, state := range c.memory {
		for ref := range state.references {
			if ref.Kind == kind {
				into[types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}] = true
			}
		}
	}
}

// writtenPoll returns a poll of the operator's own Secrets or ConfigMaps, for namespaces in which
// they may not be watched. They match a label selector and belong to the kinds for which of is
// true.
func (s *Sources) writtenPoll(kind assets.Kind, selector string, of func(*Kind) bool) *informer.Poll {
	out := s.namedPoll(kind, func(ctx context.Context) ([]types.NamespacedName, error) {
		seen := map[types.NamespacedName]bool{}
		for _, c := range s.controllers() {
			if !of(c.kind) {
				continue
			}
			if err := fillWait(ctx, c.stores.workloads, c.stores.statefulSets); err != nil {
				return nil, err
			}
			c.written(kind, seen)
		}
		return slices.Collect(maps.Keys(seen)), nil
	})
	ours, err := labels.Parse(selector)
	if err != nil {
		panic(err) // it is a constant
	}
	out.Selects = func(o informer.Object) bool { return ours.Matches(labels.Set(o.GetLabels())) }
	return out
}

// written collects the generated objects of the workloads: those in their last plans, those in the
// caches and, for workloads without a plan yet, those that their pods mount.
func (c *Controller) written(kind assets.Kind, into map[types.NamespacedName]bool) {
	planned := map[types.NamespacedName]bool{}
	c.mu.Lock()
	for key, state := range c.memory {
		planned[key] = state.written != nil
		for ref := range state.written {
			if ref.Kind == kind {
				into[types.NamespacedName{Namespace: key.Namespace, Name: ref.Name}] = true
			}
		}
	}
	c.mu.Unlock()
	for obj := range c.stores.generated(kind) {
		if len(c.workloadsOf(obj)) > 0 {
			into[catalog.KeyOf(obj)] = true
		}
	}
	for set, pod := range c.stores.podTemplates() {
		for _, key := range c.workloadsOf(set) {
			if planned[key] {
				continue
			}
			base := c.kind.prefix() + key.Name
			for _, name := range mounts(pod, kind) {
				if name == base || strings.HasPrefix(name, base+"-") {
					into[types.NamespacedName{Namespace: key.Namespace, Name: name}] = true
				}
			}
		}
	}
}

// generated iterates over the cached Secrets or ConfigMaps.
func (s *stores) generated(kind assets.Kind) iter.Seq[metav1.Object] {
	return func(yield func(metav1.Object) bool) {
		if kind == assets.Secret {
			for o := range s.secrets.All() {
				if !yield(o) {
					return
				}
			}
			return
		}
		for o := range s.configMaps.All() { // called only for kinds that have some
			if !yield(o) {
				return
			}
		}
	}
}

// podTemplates iterates over the pod templates of all StatefulSets and DaemonSets.
func (s *stores) podTemplates() iter.Seq2[metav1.Object, corev1.PodSpec] {
	return func(yield func(metav1.Object, corev1.PodSpec) bool) {
		for set := range s.statefulSets.All() {
			if !yield(set, set.Spec.Template.Spec) {
				return
			}
		}
		if s.daemonSets == nil {
			return
		}
		for set := range s.daemonSets.All() {
			if !yield(set, set.Spec.Template.Spec) {
				return
			}
		}
	}
}

// mounts returns the names of the Secrets or ConfigMaps in the volumes of a pod.
func mounts(pod corev1.PodSpec, kind assets.Kind) (out []string) {
	add := func(secret, configMap string) {
		if kind == assets.Secret && secret != "" {
			out = append(out, secret)
		}
		if kind == assets.ConfigMap && configMap != "" {
			out = append(out, configMap)
		}
	}
	for _, v := range pod.Volumes {
		switch {
		case v.Secret != nil:
			add(v.Secret.SecretName, "")
		case v.ConfigMap != nil:
			add("", v.ConfigMap.Name)
		case v.Projected != nil:
			for _, p := range v.Projected.Sources {
				if p.Secret != nil {
					add(p.Secret.Name, "")
				}
				if p.ConfigMap != nil {
					add("", p.ConfigMap.Name)
				}
			}
		}
	}
	return out
}

// namedPoll returns a poll that gets Secrets or ConfigMaps by name where listing is forbidden and
// watches the namespaces in which that is permitted.
func (s *Sources) namedPoll(kind assets.Kind, names func(context.Context) ([]types.NamespacedName, error)) *informer.Poll {
	may := s.clients.may(strings.ToLower(kind.String()) + "s")
	return &informer.Poll{Every: NamedPoll, Names: names, May: may, Pace: s.pace, Parts: true}
}

// podPoll returns a poll of pods, for namespaces in which they may not be watched.
func (s *Sources) podPoll() *informer.Poll {
	return &informer.Poll{May: s.clients.may("pods"), Every: podPoll, Soon: busyPodPoll, Busy: s.unsettled}
}

// servicePoll returns a poll of Services, for namespaces in which they may not be watched.
func (s *Sources) servicePoll(labels string) *informer.Poll {
	return &informer.Poll{May: s.clients.may("services"), Every: ServicePoll, Names: func(ctx context.Context) ([]types.NamespacedName, error) {
		return s.governing(ctx, labels)
	}}
}

// namespacePoll returns a poll of a list of namespaces if they may not be watched; nil if the
// operator works in all namespaces.
func (c Clients) namespacePoll(scope informer.Namespaces) *informer.Poll {
	if scope.All() {
		return nil
	}
	return &informer.Poll{
		May: c.may("namespaces"), Every: namespacePoll,
		Names: func(context.Context) ([]types.NamespacedName, error) {
			var out []types.NamespacedName
			for _, name := range scope.Watches() {
				out = append(out, types.NamespacedName{Name: name})
			}
			return out, nil
		},
		// The API server sets this label on every namespace.
		Unreadable: func(name types.NamespacedName) informer.Object {
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name.Name, Labels: map[string]string{corev1.LabelMetadataName: name.Name}}}
		},
	}
}
