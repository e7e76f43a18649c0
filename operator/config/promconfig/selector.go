package promconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
)

// addSelector converts a label selector to relabel steps on the meta labels of the object
// ("service", "pod" or "ingress"). The labelpresent meta label distinguishes an empty value from a
// missing label. path is the path of the selector field.
func (l *stepList) addSelector(sel *metav1.LabelSelector, object, path string) {
	labels, expressions := "", ""
	if l.traced {
		labels, expressions = path+".matchLabels", path+".matchExpressions"
	}
	for _, key := range slices.Sorted(maps.Keys(sel.MatchLabels)) {
		l.addKey(&filterStep{
			Action: "keep", SourceLabels: metaLabelPair(object, key), Regex: anyOf(sel.MatchLabels[key]),
		}, labels, key)
	}
	for i, e := range sel.MatchExpressions {
		pair := metaLabelPair(object, e.Key)
		values := anyOf(e.Values...)
		switch e.Operator {
		case metav1.LabelSelectorOpIn:
			l.addItem(&filterStep{Action: "keep", SourceLabels: pair, Regex: values}, expressions, i)
		case metav1.LabelSelectorOpNotIn:
			l.addItem(&filterStep{Action: "drop", SourceLabels: pair, Regex: values}, expressions, i)
		case metav1.LabelSelectorOpExists:
			l.addItem(&filterStep{Action: "keep", SourceLabels: pair[1:], Regex: "true"}, expressions, i)
		case metav1.LabelSelectorOpDoesNotExist:
			l.addItem(&filterStep{Action: "drop", SourceLabels: pair[1:], Regex: "true"}, expressions, i)
		}
	}
}

// anyOf returns the expression for a label that is present with one of the values.
func anyOf(values ...string) string { return "(" + strings.Join(values, "|") + ");true" }

// checkSelectorValues rejects a selector with values that are not valid in the regular expressions
// of relabel steps. It is for selectors that Kubernetes does not validate.
func (r relabelRules) checkSelectorValues(sel *metav1.LabelSelector) error {
	check := func(field string, values ...string) error {
		for _, value := range values {
			if err := r.checkRegex(value); err != nil {
				return faults.At(field, err)
			}
		}
		if _, err := regexcost.ParseWithin("^(?s:", anyOf(values...), ")$"); err != nil {
			return faults.At(field, fmt.Errorf("%q: %w", strings.Join(values, "|"), err))
		}
		return nil
	}
	var errs faults.List
	for _, key := range slices.Sorted(maps.Keys(sel.MatchLabels)) {
		errs.Add("selector", check(faults.Key("matchLabels", key), sel.MatchLabels[key]))
	}
	for i, e := range sel.MatchExpressions {
		if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn {
			errs.Add("selector", check(faults.Index("matchExpressions", i)+".values", e.Values...))
		}
	}
	return errs.Err()
}

func metaLabelPair(object, key string) []string {
	name := sanitize(key)
	return []string{
		"__meta_kubernetes_" + object + "_label_" + name,
		"__meta_kubernetes_" + object + "_labelpresent_" + name,
	}
}

// checkSelector reports whether Kubernetes accepts the selector.
func checkSelector(sel *metav1.LabelSelector) error {
	if len(sel.MatchLabels) == 0 && len(sel.MatchExpressions) == 0 {
		return nil
	}
	if err := selection.Check(sel); err != nil {
		return faults.At("selector", err)
	}
	return nil
}
