package selection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// Check reports whether Kubernetes accepts a selector. Errors contain the path within the selector.
func Check(s *metav1.LabelSelector) error {
	_, err := parse(s)
	return err
}

// parse parses a selector. Errors contain the path within the selector.
func parse(s *metav1.LabelSelector) (labels.Selector, error) {
	out, err := selectorOf(s)
	if err == nil {
		return out, nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		if wrong := validation.IsValidLabelValue(s.MatchLabels[name]); len(wrong) > 0 {
			return nil, faults.At(faults.Key("matchLabels", name), errValue)
		}
	}
	return nil, err
}

var errValue = errors.New("no label has such a value: it begins and ends with a letter or digit, has letters, digits, -, _ and . only, and at most 63 of them")

// selectorOf converts a selector. Errors of expressions contain their path.
func selectorOf(s *metav1.LabelSelector) (labels.Selector, error) {
	var all faults.List
	for i, e := range s.MatchExpressions {
		all.Add(faults.Index("matchExpressions", i), checkExpression(e))
	}
	if all.Any() {
		return nil, all.Err()
	}
	return metav1.LabelSelectorAsSelector(s)
}

// checkExpression returns clearer errors for the most common mistakes in a requirement.
func checkExpression(e metav1.LabelSelectorRequirement) error {
	switch e.Operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		if len(e.Values) == 0 {
			return faults.At("values", fmt.Errorf("is required for %s", e.Operator))
		}
		for i, value := range e.Values {
			switch {
			case len(validation.IsValidLabelValue(value)) == 0:
			case strings.Contains(value, ","):
				return faults.At(faults.Index("values", i), errors.New("is one value: write each of those between the commas as an item of the list"))
			default:
				return faults.At(faults.Index("values", i), errValue)
			}
		}
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		if len(e.Values) > 0 {
			return faults.At("values", fmt.Errorf("%s takes none; for values write In or NotIn", e.Operator))
		}
	default:
		return faults.At("operator", fmt.Errorf("%q is not one of In, NotIn, Exists and DoesNotExist%s", e.Operator, meantOperator(string(e.Operator))))
	}
	return nil
}

// operators are the spellings of operators, and words for them in other languages, all in lower case.
var operators = map[string]metav1.LabelSelectorOperator{
	"in": metav1.LabelSelectorOpIn, "notin": metav1.LabelSelectorOpNotIn, "exists": metav1.LabelSelectorOpExists, "doesnotexist": metav1.LabelSelectorOpDoesNotExist,
	"=": metav1.LabelSelectorOpIn, "==": metav1.LabelSelectorOpIn, "equals": metav1.LabelSelectorOpIn, "equal": metav1.LabelSelectorOpIn,
	"!=": metav1.LabelSelectorOpNotIn, "notequals": metav1.LabelSelectorOpNotIn, "notequal": metav1.LabelSelectorOpNotIn, "notexists": metav1.LabelSelectorOpDoesNotExist,
}

// meantOperator returns a suggestion for an invalid operator, as the end of a message, or "".
func meantOperator(text string) string {
	plain := strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(text))
	if meant := operators[plain]; meant != "" {
		return fmt.Sprintf(", did you mean %q?", meant)
	}
	return ""
}
