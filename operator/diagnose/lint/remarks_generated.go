package lint

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// generatedRemarks reports Secrets and ConfigMaps of the user with the name of one that the operator writes for a workload.
// Those with its label, or with its keys alone, are probably its own, from a cluster.
func (l *linter) generatedRemarks(self Finding, w dryrun.Workload, made dryrun.Outcome) {
	for _, s := range made.Plan.Content {
		ref := assets.Ref{Kind: assets.Secret, Namespace: s.Object.GetNamespace(), Name: s.Object.GetName()}
		if _, is := s.Object.(*corev1.ConfigMap); is {
			ref.Kind = assets.ConfigMap
		}
		if am, is := w.Object.(*v1.Alertmanager); is && ref.Kind == assets.Secret && am.Spec.ConfigSecret == ref.Name {
			l.say(self)("spec.configSecret", "%q is the Secret that the operator writes for this Alertmanager, and overwrites: give yours another name", ref.Name)
		} else if s.Verb == apply.Put && l.isOfUser(ref, s) {
			at := Finding{Kind: ref.Kind.String(), Namespace: ref.Namespace, Name: ref.Name}
			l.say(at)("metadata.name", "is that of one which the operator writes for %s, and overwrites: give this one another name", w)
		}
	}
}

// isOfUser reports whether an object is among the manifests, has a key that the operator does not write to it, and not the label
// of the objects of an operator.
func (l *linter) isOfUser(ref assets.Ref, s apply.Step) bool {
	place := l.objects.Place(ref.Kind.String(), ref.Namespace, ref.Name)
	t := l.tree(place)
	if place.File == "" || t.root == nil || find(t.root, []string{"metadata", "labels", wellknown.LabelManagedBy}) != nil {
		return false
	}
	return slices.ContainsFunc(l.objects.References.Keys(ref), func(key string) bool {
		_, own := s.Digests[key]
		return !own
	})
}
