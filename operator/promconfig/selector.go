package promconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/selection"
)

// addSelector turns a label selector into relabel steps on the meta labels of
// the object ("service", "pod" or "ingress"). labelpresent takes part so that
// an empty value differs from an absent label. path is the selector's field.
func (l *stepList) addSelector(sel *metav1.LabelSelector, object, path string) {
	labels, expressions := "", ""
	if l.traced {
		labels, expressions = path+".matchLabels", path+".matchExpressions"
	}
	for _, key := range slices.Sorted(maps.Keys(sel.MatchLabels)) {
		l.addKey(&filterStep{
			Action: "keep", SourceLabels: metaLabelPair(object, key), Regex: "(" + sel.MatchLabels[key] + ");true",
		}, labels, key)
	}
	for i, e := range sel.MatchExpressions {
		pair := metaLabelPair(object, e.Key)
		values := "(" + strings.Join(e.Values, "|") + ");true"
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

func metaLabelPair(object, key string) []string {
	name := sanitize(key)
	return []string{
		"__meta_kubernetes_" + object + "_label_" + name,
		"__meta_kubernetes_" + object + "_labelpresent_" + name,
	}
}

// checkSelector reports whether Kubernetes takes the selector.
func checkSelector(sel *metav1.LabelSelector) error {
	if len(sel.MatchLabels) == 0 && len(sel.MatchExpressions) == 0 {
		return nil
	}
	if err := selection.Check(sel); err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	return nil
}
