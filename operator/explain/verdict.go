package explain

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
)

// judge asks one owner. The first step that excludes the object gives the reason.
func judge(q *Question, c Candidate, opts prometheus.Options) Verdict {
	v := Verdict{Owner: Ref{c.Kind(), c.GetNamespace(), c.GetName()}}
	for _, step := range []func(*Question, Candidate, prometheus.Options, *Verdict) (done bool){
		kindSupported, ownerLookedAfter, objectLookedAfter, ownerPaused, objectSelected,
	} {
		if step(q, c, opts, &v) {
			return v
		}
	}
	c.Compile(q, opts, &v)
	if v.Accepted {
		v.Trouble = c.Trouble()
	}
	return v
}

// because gives the verdict no.
func (v *Verdict) because(reason Reason, format string, args ...any) bool {
	v.Reason, v.Message = reason, fmt.Sprintf(format, args...)
	return true
}

func kindSupported(q *Question, c Candidate, _ prometheus.Options, v *Verdict) bool {
	return !c.Selects(q.Kind) && v.because(KindNotSupported, "%s does not select %ss", c.Kind(), q.Kind)
}

func ownerLookedAfter(_ *Question, c Candidate, opts prometheus.Options, v *Verdict) bool {
	if id := c.GetAnnotations()[prometheus.ControllerIDAnnotation]; id != opts.ControllerID {
		this := "without --controller-id"
		if opts.ControllerID != "" {
			this = "with --controller-id=" + opts.ControllerID
		}
		has := "it has no annotation " + prometheus.ControllerIDAnnotation
		if id != "" {
			has = fmt.Sprintf("its annotation %s is %q", prometheus.ControllerIDAnnotation, id)
		}
		return v.because(OtherController, "managed by another operator: %s, and this one runs %s", has, this)
	}
	if !opts.Scopes.Instances.Has(c.GetNamespace()) {
		return v.because(OwnerNotWatched, "the operator does not watch %s objects in namespace %s (--prometheus-instance-namespaces, --namespaces, --deny-namespaces)", c.Kind(), c.GetNamespace())
	}
	// Validate has parsed it.
	if s, err := labels.Parse(opts.Scopes.InstanceSelector); err == nil && !s.Matches(labels.Set(c.GetLabels())) {
		return v.because(OwnerNotWatched, "its labels do not match --prometheus-instance-selector=%s", opts.Scopes.InstanceSelector)
	}
	return c.GetDeletionTimestamp() != nil && v.because(OwnerDeleted, "it is being deleted")
}

func objectLookedAfter(q *Question, _ Candidate, opts prometheus.Options, v *Verdict) bool {
	if namespace := q.Object.GetNamespace(); !opts.Scopes.Configs.Has(namespace) {
		return v.because(NamespaceNotWatched, "the operator does not watch monitors and rules in namespace %s (--namespaces, --deny-namespaces)", namespace)
	}
	return q.Object.GetDeletionTimestamp() != nil && v.because(ObjectDeleted, "the %s is being deleted", q.Kind)
}

func ownerPaused(q *Question, c Candidate, opts prometheus.Options, v *Verdict) bool {
	if !c.Paused() {
		return false
	}
	otherwise := judge(q, running{c}, opts)
	v.Otherwise = &otherwise
	return v.because(Paused, "spec.paused is true: it keeps the configuration it had when it was paused")
}

// running is an owner as if it were not paused.
type running struct{ Candidate }

func (running) Paused() bool { return false }

func objectSelected(q *Question, c Candidate, _ prometheus.Options, v *Verdict) bool {
	rule, field, err := c.Rule(q.Kind)
	if err != nil {
		return v.because(OwnerInvalid, "%v", err)
	}
	objects, namespaces := "spec."+field+"Selector", "spec."+field+"NamespaceSelector"
	namespace := q.Object.GetNamespace()
	nsLabels, exists := q.NamespaceLabels(namespace)
	switch reason := rule.Why(namespace, nsLabels, q.Object.GetLabels()); {
	case reason == selection.NoSelector:
		v.Selector = objects
		return v.because(SelectorNotSet, "%s is not set, so it selects no %s ({} selects all)", objects, q.Kind)
	case reason == selection.NamespaceNotSelected && rule.OwnNamespaceOnly():
		v.Selector = namespaces
		return v.because(NamespaceNotSelected, "%s is not set, so it selects namespace %s only ({} selects all)", namespaces, c.GetNamespace())
	case reason == selection.NamespaceNotSelected:
		v.Selector, v.Misses = namespaces, rule.NamespaceMisses(nsLabels)
		return v.because(NamespaceNotSelected, "%s does not match the labels of namespace %s", namespaces, namespace)
	case reason == selection.LabelsNotSelected:
		v.Selector, v.Misses = objects, rule.LabelMisses(q.Object.GetLabels())
		return v.because(LabelsNotSelected, "%s does not match the labels of the %s", objects, q.Kind)
	case !exists && !rule.OwnNamespaceOnly():
		return v.because(NamespaceNotSelected, "namespace %s does not exist", namespace)
	}
	return false
}
