package lint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
)

// A selector whose requirements exclude each other selects nothing.
func TestContradictions(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                    "",
		`matchLabels: {app: a}`: "",
		`{matchLabels: {app: a}, matchExpressions: [{key: app, operator: NotIn, values: [a]}]}`:                                                         `spec.selector.matchExpressions[0]: contradicts matchLabels["app"]`,
		`{matchLabels: {app: a}, matchExpressions: [{key: app, operator: NotIn, values: [b]}, {key: b, operator: NotIn, values: [a]}]}`:                 "",
		`{matchLabels: {app: a}, matchExpressions: [{key: app, operator: In, values: [b, c]}]}`:                                                         `spec.selector.matchExpressions[0]: contradicts matchLabels["app"]`,
		`{matchLabels: {app: a}, matchExpressions: [{key: app, operator: In, values: [b, a]}]}`:                                                         "",
		`{matchLabels: {app: a}, matchExpressions: [{key: app, operator: DoesNotExist}]}`:                                                               `spec.selector.matchExpressions[0]: contradicts matchLabels["app"]`,
		`matchExpressions: [{key: a, operator: Exists}, {key: b, operator: Exists}, {key: a, operator: DoesNotExist}]`:                                  "spec.selector.matchExpressions[2]: contradicts matchExpressions[0]",
		`matchExpressions: [{key: a, operator: NotIn, values: [x]}, {key: a, operator: DoesNotExist}]`:                                                  "",
		`matchExpressions: [{key: a, operator: NotIn, values: [x, y]}, {key: a, operator: In, values: [x, y]}, {key: a, operator: In, values: [z]}]`:    "spec.selector.matchExpressions[1]: contradicts matchExpressions[0]",
		`matchExpressions: [{key: a, operator: In, values: [x, y]}, {key: a, operator: In, values: [y, z]}, {key: a, operator: NotIn, values: [x, z]}]`: "",
		`matchExpressions: [{key: a, operator: In, values: [x, y]}, {key: a, operator: In, values: [y, z]}, {key: a, operator: NotIn, values: [y]}]`:    "spec.selector.matchExpressions[2]: contradicts matchExpressions[1]",
	} {
		var s metav1.LabelSelector
		if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		var got []string
		contradictions(func(field, format string, args ...any) { got = append(got, field+": "+fmt.Sprintf(format, args...)) }, "spec.selector", &s)
		if len(got) > 1 || !strings.HasPrefix(strings.Join(got, ""), want) || want == "" && len(got) > 0 {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}

// A selector with very many requirements costs no time.
func TestManyContradictions(t *testing.T) {
	var s metav1.LabelSelector
	all := metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpIn}
	for i := range 50_000 {
		all.Values = append(all.Values, fmt.Sprintf("v%05d", i))
	}
	s.MatchExpressions = append(s.MatchExpressions, all)
	for _, value := range all.Values {
		s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpNotIn, Values: []string{value}})
	}
	began := cputime.Now()
	contradictions(func(string, string, ...any) {}, "spec.selector", &s)
	if took := cputime.Since(began); took > 500*time.Millisecond {
		t.Errorf("took %s", took)
	}
}
