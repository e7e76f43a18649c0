package selection

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The error about an operator that does not exist ends with the one that is meant, if there is one.
func TestMeantOperator(t *testing.T) {
	for operator, want := range map[string]string{
		"in":             `, did you mean "In"?`,
		"not in":         `, did you mean "NotIn"?`,
		"EXISTS":         `, did you mean "Exists"?`,
		"does-not-exist": `, did you mean "DoesNotExist"?`,
		"==":             `, did you mean "In"?`,
		"!=":             `, did you mean "NotIn"?`,
		"Within":         " and DoesNotExist",
		"":               " and DoesNotExist",
	} {
		_, err := Parse("own", "podMonitor", nil, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "a", Operator: metav1.LabelSelectorOperator(operator), Values: []string{"b"}},
		}})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v", operator, err)
		}
	}
}
