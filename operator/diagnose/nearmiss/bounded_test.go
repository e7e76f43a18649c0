package nearmiss

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
)

// The cost of comparing a selector with objects does not depend on the length of its words.
func TestComparisonsAreBounded(t *testing.T) {
	long, other := strings.Repeat("a", 1<<20), strings.Repeat("a", 1<<20-1)+"b"
	budgettest.AtMost(t, "alike", 1<<10, func() {
		if alike(long, other) || !alike(long, long) {
			t.Error("long words are alike when they are equal")
		}
	})
	var ports []corev1.ContainerPort
	for i := range 1000 {
		ports = append(ports, corev1.ContainerPort{Name: fmt.Sprintf("port-%d", i), ContainerPort: int32(i + 1)})
	}
	s := Search{port: portNamed(containerName, long, "spec.podMetricsEndpoints[0].port")}
	budgettest.AtMost(t, "ports", 1<<20, func() { s.meantPort("port", ports) })

	var values []string
	for i := range 50_000 {
		values = append(values, fmt.Sprint("value-", i))
	}
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: values}}})
	if err != nil {
		t.Fatal(err)
	}
	var all []candidate
	for i := range 200 {
		all = append(all, candidate{name: fmt.Sprint("service-", i), labels: labels.Set{"app": "x"}})
	}
	many := Search{selector: selector}
	budgettest.AtMost(t, "values", 4<<20, func() {
		if _, _, ok := new(View).nearest(&many, all); ok {
			t.Error("something is near")
		}
	})
}

// Identical endpoints are reported. Different paths and relabelings make endpoints distinct.
func TestRepeatedEndpoints(t *testing.T) {
	var all []Search
	for i := range 3 {
		field := fmt.Sprintf("spec.endpoints[%d].port", i)
		all = append(all, Search{selectorField: "spec.selector", port: portNamed(servicePort, "web", field), point: point{path: "/metrics"}})
	}
	all[1].point.path = "/other"
	hints := repeated(all)
	if len(hints) != 1 || hints[0].Field != "spec.endpoints[2].port" || !strings.Contains(hints[0].Message, "spec.endpoints[0].port") {
		t.Errorf("%v", hints)
	}
	all[2].point.filtered = true
	if hints := repeated(all); len(hints) > 0 {
		t.Errorf("%v", hints)
	}
}
