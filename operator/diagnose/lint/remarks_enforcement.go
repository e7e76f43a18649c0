package lint

import (
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// exceptionRemarks reports exceptions from the enforced namespace label that have no effect: nothing is
// enforced, or the object that is meant has another name or is in another namespace.
func (l *linter) exceptionRemarks(say says, w v1.Workload) {
	label, all := enforcement(w)
	if len(all) > 0 && label == "" {
		say("spec.excludedFromEnforcement", "has no effect, because spec.enforcedNamespaceLabel is not set, so nothing is enforced: set it, or remove the exceptions")
		return
	}
	for i, ref := range all {
		l.exceptionRemark(say, fmt.Sprintf("spec.excludedFromEnforcement[%d]", i), ref)
	}
}

// enforcement returns the label with the namespace that a workload enforces, and the objects that are excepted.
func enforcement(w v1.Workload) (label string, except []v1.ObjectReference) {
	if ruler, is := w.(*v1.ThanosRuler); is {
		return ruler.Spec.EnforcedNamespaceLabel, ruler.Spec.ExcludedFromEnforcement
	}
	if common := v1alpha1.CommonFields(w); common != nil {
		return common.EnforcedNamespaceLabel, common.ExcludedFromEnforcement
	}
	return "", nil
}

// exceptionRemark reports an exception whose object is not among the manifests, while a similar one is.
func (l *linter) exceptionRemark(say says, path string, ref v1.ObjectReference) {
	row := catalog.Word(ref.Resource)
	if row == nil || row.Resource != ref.Resource || ref.Name == "" {
		return
	}
	var beside, namespaces []string
	for _, object := range l.objects.All(row) {
		if object.GetNamespace() == ref.Namespace {
			beside = append(beside, object.GetName())
		}
		if object.GetName() == ref.Name {
			namespaces = append(namespaces, object.GetNamespace())
		}
	}
	slices.Sort(beside)
	switch meant := manifest.Similar(ref.Name, beside); {
	case slices.Contains(beside, ref.Name):
	case len(namespaces) > 0:
		say(path+".namespace", "there is no %s %s/%s among the manifests, so nothing is excepted; there is one in namespace %s: write namespace: %s", row, ref.Namespace, ref.Name, namespaces[0], namespaces[0])
	case meant != "":
		say(path+".name", "there is no %s %s/%s among the manifests, so nothing is excepted, did you mean %q?", row, ref.Namespace, ref.Name, meant)
	}
}

// strategyRemarks reports fields of a rule that only a ThanosRuler uses, if none is there to use them.
func (l *linter) strategyRemarks(note says, w v1.Workload, r *v1.PrometheusRule) {
	if _, ruler := w.(*v1.ThanosRuler); ruler || len(l.objects.All(catalog.ThanosRuler)) > 0 {
		return
	}
	for i, g := range r.Spec.Groups {
		if g.PartialResponseStrategy != "" {
			note(fmt.Sprintf("spec.groups[%d].partial_response_strategy", i), "only a ThanosRuler uses it, and a Prometheus does not know it, so it is left out: remove it")
		}
	}
}
