package prometheus

import (
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
)

// kinds are the kinds that an owner selects, in the order of a server's document, with
// the spec field's name before "Selector" and the two selectors.
var kinds = []struct {
	kind, field string
	selectors   func(Owner) (namespaces, objects *metav1.LabelSelector)
}{
	{v1.ServiceMonitorKind, "serviceMonitor", func(o Owner) (_, _ *metav1.LabelSelector) {
		return o.Fields.ServiceMonitorNamespaceSelector, o.Fields.ServiceMonitorSelector
	}},
	{v1.PodMonitorKind, "podMonitor", func(o Owner) (_, _ *metav1.LabelSelector) {
		return o.Fields.PodMonitorNamespaceSelector, o.Fields.PodMonitorSelector
	}},
	{v1.ProbeKind, "probe", func(o Owner) (_, _ *metav1.LabelSelector) {
		return o.Fields.ProbeNamespaceSelector, o.Fields.ProbeSelector
	}},
	{v1alpha1.ScrapeConfigKind, "scrapeConfig", func(o Owner) (_, _ *metav1.LabelSelector) {
		return o.Fields.ScrapeConfigNamespaceSelector, o.Fields.ScrapeConfigSelector
	}},
	{v1.PrometheusRuleKind, "rule", func(o Owner) (_, _ *metav1.LabelSelector) {
		if o.Server == nil {
			return nil, nil // an agent evaluates no rules
		}
		return o.Server.Spec.RuleNamespaceSelector, o.Server.Spec.RuleSelector
	}},
}

// selectionRules parses the owner's selectors.
//
// Errors name the field, as in spec.ruleSelector.
func selectionRules(o Owner) (selection.Rules, error) {
	out := selection.Rules{}
	for _, k := range kinds {
		namespaces, objects := k.selectors(o)
		rule, err := selection.Parse(o.GetNamespace(), k.field, namespaces, objects)
		if err != nil {
			return nil, err
		}
		out[k.kind] = rule
	}
	return out, nil
}

// lenientRules is selectionRules for the index: a selector that does not parse
// selects nothing there, and the reconciliation of the owner reports it.
func lenientRules(o Owner) selection.Rules {
	out := selection.Rules{}
	for _, k := range kinds {
		namespaces, objects := k.selectors(o)
		if rule, err := selection.Parse(o.GetNamespace(), k.field, namespaces, objects); err == nil {
			out[k.kind] = rule
		}
	}
	return out
}

// fullName is the full name of a kind that owners select.
func fullName(kind string) schema.GroupVersionKind {
	if kind == v1alpha1.ScrapeConfigKind {
		return v1alpha1.GroupVersionKind(kind)
	}
	return v1.GroupVersionKind(kind)
}

// selected returns the objects that a rule selects, by "namespace/name" in byte
// order; all may be nil.
func selected[T metav1.Object](rule selection.Rule, all iter.Seq[T], namespaceLabels func(string) (labels.Set, bool)) []T {
	if rule.Empty() || all == nil {
		return nil
	}
	verdicts := map[string]bool{}
	var out []T
	var last string // most often the next object is of the same namespace
	var verdict bool
	for obj := range all {
		if ns := obj.GetNamespace(); ns != last || ns == "" {
			var known bool
			if verdict, known = verdicts[ns]; !known {
				nsLabels, exists := namespaceLabels(ns)
				verdict = rule.Namespace(ns, nsLabels) && (exists || rule.OwnNamespaceOnly())
				verdicts[ns] = verdict
			}
			last = ns
		}
		if verdict && rule.Labels(obj.GetLabels()) && obj.GetDeletionTimestamp() == nil {
			out = append(out, obj)
		}
	}
	slices.SortFunc(out, func(a, b T) int { return informer.CompareKeys(a, b) })
	return out
}
