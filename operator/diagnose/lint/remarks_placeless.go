package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// namespaceLabel is the label by which an Alertmanager limits AlertmanagerConfigs to their namespace.
const namespaceLabel = "namespace"

// placelessRemarks reports matchers of a route for alerts without the label namespace, if its Alertmanager passes only
// those of a namespace.
func (l *linter) placelessRemarks(note says, r *route, namespace string) {
	for i, m := range r.Matchers {
		if why := l.notIn(m, namespace); why != "" {
			note(fmt.Sprintf("%s.matchers[%d]", r.path, i), "no alert %[1]s gets here: the Alertmanager passes only alerts with %[2]s=%[3]q, and %[4]s, or set spec.alertmanagerConfigMatcherStrategy of the Alertmanager", m.Value, namespaceLabel, namespace, why)
		}
	}
}

// placelessInhibition is like placelessRemarks for the sides of an inhibition rule, to which the operator adds the label.
func (l *linter) placelessInhibition(note says, path string, rule v1alpha1.InhibitRule, namespace string) {
	for _, side := range []struct {
		field    string
		matchers []v1alpha1.Matcher
	}{{"sourceMatch", rule.SourceMatch}, {"targetMatch", rule.TargetMatch}} {
		for i, m := range side.matchers {
			if why := l.notIn(m, namespace); why != "" {
				note(fmt.Sprintf("%s.%s[%d]", path, side.field, i), "the rule mutes nothing: the operator adds %[1]s=%[2]q to both sides, and %[3]s, or set spec.alertmanagerConfigMatcherStrategy of the Alertmanager to None, or write the rule into the configuration of the Alertmanager itself", namespaceLabel, namespace, why)
			}
		}
	}
}

// notIn returns why no alert that a matcher names is one of a namespace, with the remedy; empty if one may be.
func (l *linter) notIn(m v1alpha1.Matcher, namespace string) string {
	if m.Name != model.AlertNameLabel || !isEqual(m) {
		return ""
	}
	of, known := l.placeless()[m.Value]
	switch {
	case !known:
	case of.never:
		return fmt.Sprintf("expr of %s has no result with the label %s: write it into labels there, or into by (…) of an aggregation", m.Value, namespaceLabel)
	case of.nodes && !of.namespaces[namespace]:
		return fmt.Sprintf("the metrics of nodes in expr of %s have the namespace of their exporter: write another one into labels there", m.Value)
	}
	return ""
}

// place describes the label namespace of the alerts with a name.
type place struct {
	never bool // they never have it
	// nodes is set if all of them use metrics of nodes only, which have the namespace of an exporter. namespaces are those
	// of the rules and exporters.
	nodes      bool
	namespaces map[string]bool
}

// placeless returns the places of the alerts in the manifests, by name.
func (l *linter) placeless() map[string]*place {
	if l.places != nil {
		return l.places
	}
	l.places = map[string]*place{}
	for _, w := range l.objects.Workloads() {
		enforced, _ := enforcement(w.Object)
		f := v1alpha1.CommonFields(w.Object)
		if enforced != "" || f != nil && f.ExternalLabels[namespaceLabel] != "" {
			return l.places // every alert may have it
		}
		if r, is := w.Object.(*v1.ThanosRuler); is && r.Spec.Labels[namespaceLabel] != "" || l.relabelsNamespace(w.Object) {
			return l.places
		}
	}
	for _, o := range l.objects.All(catalog.PrometheusRule) {
		r := o.(*v1.PrometheusRule)
		for _, q := range queriesOf(r) {
			if q.rule.Alert == "" {
				continue
			}
			p := l.places[q.rule.Alert]
			if p == nil {
				p = &place{never: true, nodes: true, namespaces: map[string]bool{}}
				l.places[q.rule.Alert] = p
			}
			set := r.Spec.Groups[q.group].Labels[namespaceLabel] != "" || q.rule.Labels[namespaceLabel] != ""
			p.never = p.never && !set && withoutNamespace(q)
			p.nodes = p.nodes && !set && ofNodes(q)
			p.namespaces[r.Namespace] = true
		}
	}
	exporters, known := l.exporterNamespaces()
	for _, p := range l.places {
		p.nodes = p.nodes && known
		for _, namespace := range exporters {
			p.namespaces[namespace] = true
		}
	}
	return l.places
}

// relabelsNamespace reports whether the relabelings of alerts of a workload may set the label namespace. Those that cannot
// be read count as ones that may.
func (l *linter) relabelsNamespace(w v1.Workload) bool {
	var own *corev1.SecretKeySelector
	switch w := w.(type) {
	case *v1.Prometheus:
		own = w.Spec.AdditionalAlertRelabelConfigs
		if w.Spec.Alerting != nil && slices.ContainsFunc(w.Spec.Alerting.Alertmanagers, func(to v1.AlertmanagerEndpoints) bool {
			return nearmiss.LabelsSetBy(to.AlertRelabelConfigs).Has(namespaceLabel)
		}) {
			return true
		}
	case *v1.ThanosRuler:
		if own = w.Spec.AlertRelabelConfigs; w.Spec.AlertRelabelConfigFile != "" {
			return true
		}
	}
	if own == nil {
		return false
	}
	secret, err := l.objects.References.Object(assets.Ref{Kind: assets.Secret, Namespace: w.GetNamespace(), Name: own.Name})
	text := secret.Values[own.Key]
	var steps []ownStep
	if err != nil || !lined(text) || new(manifest.Aliases).Check(text) != nil || yaml.Unmarshal(text, &steps) != nil || len(steps) == 0 {
		return true
	}
	return nearmiss.LabelsSetBy(stepsOf(steps)).Has(namespaceLabel)
}

// exporterNamespaces returns the namespaces that monitors of node exporters, found by name, select in. known is false if there
// is no such monitor, so that the exporters are elsewhere, or if one of them selects in all namespaces.
func (l *linter) exporterNamespaces() (namespaces []string, known bool) {
	for _, row := range []*catalog.Row{catalog.ServiceMonitor, catalog.PodMonitor} {
		for _, o := range l.objects.All(row) {
			if !strings.Contains(o.GetName(), "node") && !strings.Contains(o.GetName(), "state-metrics") {
				continue
			}
			var selector v1.NamespaceSelector
			switch m := o.(type) {
			case *v1.ServiceMonitor:
				selector = m.Spec.NamespaceSelector
			case *v1.PodMonitor:
				selector = m.Spec.NamespaceSelector
			}
			if selector.Any {
				return nil, false
			}
			namespaces = append(append(namespaces, o.GetNamespace()), selector.MatchNames...)
		}
	}
	return namespaces, len(namespaces) > 0
}

// ofNodes reports whether an expression is about metrics of nodes alone, of node_exporter or kube-state-metrics.
func ofNodes(q *query) bool {
	all := q.selectors()
	return len(all) > 0 && !slices.ContainsFunc(all, func(selector []*labels.Matcher) bool {
		name := nameIn(selector)
		return !strings.HasPrefix(name, "node_") && !strings.HasPrefix(name, "kube_node_") || strings.Contains(name, ":")
	}) && !strings.Contains(q.text, "label_replace") && !strings.Contains(q.text, "label_join")
}

// withoutNamespace reports whether the alerts of a rule never have the label namespace.
func withoutNamespace(q *query) bool {
	if q.expr() == nil {
		return false
	}
	has, known := resultLabels(q.expr())
	return known && !has[namespaceLabel] || lostLabels(q.expr())[namespaceLabel]
}
