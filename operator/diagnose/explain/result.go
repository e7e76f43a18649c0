package explain

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// inquiry is a question applied to one workload.
type inquiry struct {
	q       *Question
	c       Candidate
	configs informer.Namespaces // where the operator watches selectable objects
}

// result returns the result of the workload. The first filter that excludes the object
// determines the reason.
func (i inquiry) result() Result {
	v, excluded := i.ask(kindSupported, workloadManaged, objectWatched)
	if excluded {
		return v
	}
	if !i.c.Object.GetWorkloadFields().Paused {
		return i.use()
	}
	otherwise := i.use()
	v.Otherwise = &otherwise
	v.because(Paused, "spec.paused is true: it keeps the configuration it had when it was paused")
	return v
}

// use returns the result for a managed workload and a watched object.
func (i inquiry) use() Result {
	v, named := i.ask(objectNamed)
	if named {
		v.Trouble = i.c.trouble(i.q)
		return v
	}
	v, excluded := i.ask(objectSelected)
	if excluded {
		v.Where = i.where(&v)
		return v
	}
	i.c.compile(i.q, &v)
	if v.Accepted {
		v.Trouble = i.c.trouble(i.q)
	}
	return v
}

// filter reports whether the object is excluded and records the reason in the result.
type filter func(inquiry, *Result) (excluded bool)

// ask applies filters until one excludes the object.
func (i inquiry) ask(filters ...filter) (v Result, excluded bool) {
	w := i.c.Object
	v.Workload = catalog.Ref{Kind: i.c.Setup.Row.Kind, Namespace: w.GetNamespace(), Name: w.GetName()}
	for _, excludes := range filters {
		if excludes(i, &v) {
			return v, true
		}
	}
	return v, false
}

// because sets reason and message. It always returns true.
func (v *Result) because(reason Reason, format string, args ...any) bool {
	v.Reason, v.Message = reason, fmt.Sprintf(format, args...)
	return true
}

func kindSupported(i inquiry, v *Result) bool {
	instead := ""
	if i.q.Row == catalog.PrometheusRule && i.c.Setup.Row == catalog.PrometheusAgent {
		instead = ": it only scrapes and forwards; a Prometheus or a ThanosRuler with a spec.ruleSelector evaluates them"
	}
	return i.c.Setup.SelectsBy(i.q.Row.Kind).Row == nil && v.because(KindNotSupported, "%s does not select %ss%s", i.c.Setup.Row, i.q.Row, instead)
}

func workloadManaged(i inquiry, v *Result) bool {
	w, row := i.c.Object, i.c.Setup.Row
	if id := w.GetAnnotations()[engine.ControllerIDAnnotation]; id != i.c.Setup.ControllerID {
		this := "without --controller-id"
		if i.c.Setup.ControllerID != "" {
			this = "with --controller-id=" + i.c.Setup.ControllerID
		}
		has := "it has no annotation " + engine.ControllerIDAnnotation
		if id != "" {
			has = fmt.Sprintf("its annotation %s is %q", engine.ControllerIDAnnotation, id)
		}
		return v.because(OtherController, "managed by another operator: %s, and this one runs %s", has, this)
	}
	if !i.c.Setup.Instances.Has(w.GetNamespace()) {
		return v.because(WorkloadNotWatched, "the operator does not watch %s objects in namespace %s (--%s-instance-namespaces, --namespaces, --deny-namespaces)", row, w.GetNamespace(), row.Flags)
	}
	// The selector was validated when the flags were parsed.
	if s, err := labels.Parse(i.c.Setup.InstanceSelector); err == nil && !s.Matches(labels.Set(w.GetLabels())) {
		return v.because(WorkloadNotWatched, "its labels do not match --%s-instance-selector=%s", row.Flags, i.c.Setup.InstanceSelector)
	}
	return w.GetDeletionTimestamp() != nil && v.because(WorkloadDeleted, "it is being deleted")
}

func objectWatched(i inquiry, v *Result) bool {
	if text := notWatched(i.q.Row, i.q.Object.GetNamespace(), i.configs); text != "" {
		return v.because(NamespaceNotWatched, "%s", text)
	}
	return i.q.Object.GetDeletionTimestamp() != nil && v.because(ObjectDeleted, "the %s is being deleted", i.q.Row)
}

// notWatched returns why the operator leaves out all objects of a kind in a namespace; empty if it does not.
func notWatched(row *catalog.Row, namespace string, configs informer.Namespaces) string {
	if configs.Has(namespace) {
		return ""
	}
	flag, _, _ := strings.Cut(configs.Flag(), "=") // do not disclose the names of other namespaces
	return fmt.Sprintf("the operator does not watch %ss in namespace %s (%s)", row, namespace, flag)
}

// objectNamed excludes an object that the workload refers to by name: it is used, but not selected.
func objectNamed(i inquiry, v *Result) bool {
	rule, err := i.c.rule(i.q)
	v.Accepted = err == nil && rule.Names(i.q.Object.GetNamespace(), i.q.Object.GetName())
	return v.Accepted && v.because(UsedByName, "used by name, not as one of the %ss that it selects", i.q.Row)
}

func objectSelected(i inquiry, v *Result) bool {
	rule, err := i.c.rule(i.q)
	if err != nil {
		return v.because(WorkloadInvalid, "%v", err)
	}
	object := i.q.Object
	namespace := object.GetNamespace()
	nsLabels, exists := i.q.NamespaceLabels(namespace)
	subject := selection.Subject{
		Kind: i.q.Row.Kind, Namespace: namespace, Labels: object.GetLabels(),
		NamespaceLabels: nsLabels, NamespaceUnknown: i.q.NamespaceUnknown != nil && i.q.NamespaceUnknown(namespace),
	}
	answer := rule.Explain(subject, i.q.Row.Field)
	v.Selector, v.Misses = answer.Selector, answer.Misses
	if answer.Reason == selection.NamespaceNotSelected {
		if i.q.NamespaceHidden != nil && i.q.NamespaceHidden(namespace) {
			for at := range v.Misses {
				v.Misses[at] = v.Misses[at].Unseen()
			}
		}
		v.Also = besides(rule, subject, i.q.Row.Field)
	}
	unread, sure := "", false
	if i.q.Findings != nil {
		unread, sure = i.q.Findings.Unread(dryrun.Workload{Kind: i.c.Setup.Kind, Object: i.c.Object}, answer)
	}
	switch {
	case sure:
		return v.because(reasons[answer.Reason], "%s %s", answer.Selector, unread)
	case unread != "":
		return v.because(NotKnown, "%s %s", answer.Selector, unread)
	case answer.Reason == selection.NamespaceUnknown:
		return v.because(NotKnown, "%s; %s", answer.Message, i.namespaceHint(namespace))
	case answer.Reason != selection.Selected:
		return v.because(reasons[answer.Reason], "%s", answer.Message)
	case !exists && !rule.OwnNamespaceOnly():
		return v.because(NamespaceNotSelected, "namespace %s does not exist", namespace)
	}
	return false
}

// besides returns why an object in a namespace that is not selected would not be selected in another one either.
func besides(rule selection.Rule, subject selection.Subject, field string) []string {
	second, is := rule.Besides(subject, field)
	if !is {
		return nil
	}
	out := []string{second.Message}
	for _, m := range second.Misses {
		out = append(out, "it requires "+m.String())
	}
	return out
}

// namespaceHint describes how to provide the labels of a namespace.
func (i inquiry) namespaceHint(namespace string) string {
	if i.q.Findings == nil {
		return "they are read with the permission to list namespaces"
	}
	return fmt.Sprintf("add the Namespace to the manifests (kubectl get namespace %s -o yaml)", namespace)
}

// reasons maps the reasons of package selection to those of this package.
var reasons = map[selection.Reason]Reason{
	selection.NoSelector: SelectorNotSet, selection.NamespaceNotSelected: NamespaceNotSelected, selection.LabelsNotSelected: LabelsNotSelected,
}
