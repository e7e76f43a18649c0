package selection_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
)

// An Index finds the workloads to reconcile after a monitor changed.
func ExampleIndex() {
	rule, err := selection.Parse("monitoring", "serviceMonitor", nil, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	index := &selection.Index{}
	index.Set(types.NamespacedName{Namespace: "monitoring", Name: "k8s"}, selection.Rules{"ServiceMonitor": rule})

	cart := selection.Object{Namespace: "monitoring", Name: "cart", Labels: labels.Set{"team": "shop"}}
	mail := selection.Object{Namespace: "monitoring", Name: "mail", Labels: labels.Set{"team": "office"}}
	fmt.Println(index.SelectedBy("ServiceMonitor", cart))
	fmt.Println(index.SelectedBy("ServiceMonitor", mail))
	fmt.Println(rule.Explain(selection.Subject{Namespace: "monitoring", Labels: mail.Labels}, "spec.serviceMonitor").Misses)
	// Output:
	// [monitoring/k8s]
	// []
	// [team=shop, but team is "office"]
}
