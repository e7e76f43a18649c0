package lint

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// namespaceLabel is the label by which an Alertmanager limits AlertmanagerConfigs to their namespace.
const namespaceLabel = "namespace"

// placelessRemarks reports matchers of a route for alerts without the label namespace, if its Alertmanager passes only
// those of a namespace.
func (l *linter) placelessRemarks(note says, r *route, namespace string) {
	for i, m := range r.Matchers {
		if m.Name == model.AlertNameLabel && isEqual(m) && l.placeless()[m.Value] {
			note(fmt.Sprintf("%s.matchers[%d]", r.path, i), "no alert %[1]s gets here: the Alertmanager passes only alerts with %[2]s=%[3]q, and expr of %[1]s has no result with the label %[2]s: add it to by (…) there or write it into labels, or set spec.alertmanagerConfigMatcherStrategy of the Alertmanager", m.Value, namespaceLabel, namespace)
		}
	}
}

// placeless returns the names of alerts of the manifests that never have the label namespace.
func (l *linter) placeless() map[string]bool {
	if l.noNamespaces != nil {
		return l.noNamespaces
	}
	l.noNamespaces = map[string]bool{}
	for _, w := range l.objects.Workloads() {
		enforced, _ := enforcement(w.Object)
		f := v1alpha1.CommonFields(w.Object)
		if enforced != "" || f != nil && f.ExternalLabels[namespaceLabel] != "" {
			return l.noNamespaces // every alert may have it
		}
		if r, is := w.Object.(*v1.ThanosRuler); is && r.Spec.Labels[namespaceLabel] != "" {
			return l.noNamespaces
		}
	}
	for _, o := range l.objects.All(catalog.PrometheusRule) {
		r := o.(*v1.PrometheusRule)
		for _, q := range queriesOf(r) {
			if without, seen := l.noNamespaces[q.rule.Alert]; q.rule.Alert != "" && (!seen || without) {
				l.noNamespaces[q.rule.Alert] = r.Spec.Groups[q.group].Labels[namespaceLabel] == "" && withoutNamespace(q)
			}
		}
	}
	return l.noNamespaces
}

// withoutNamespace reports whether the alerts of a rule never have the label namespace.
func withoutNamespace(q *query) bool {
	if q.rule.Labels[namespaceLabel] != "" || q.expr() == nil {
		return false
	}
	has, known := resultLabels(q.expr())
	return known && !has[namespaceLabel] || lostLabels(q.expr())[namespaceLabel]
}
