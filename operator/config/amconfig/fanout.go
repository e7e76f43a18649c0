package amconfig

import (
	"fmt"
	"reflect"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

var errFanOut = fmt.Errorf("one alert can cause more than %d notifications at the same time: remove continue, or use several objects", budget.Notifications)

// fanOut returns how many integrations are notified at most of one alert. Alertmanager does it at the same time, each with
// its own copy of all alerts of the group. Routes with continue count as if all of them matched, and those without integrations
// as one: each keeps a group of alerts.
//
// receiver: the name that is inherited. integrations: of each receiver.
func (n *routeNode) fanOut(receiver string, integrations map[string]int) int {
	if n.Receiver != "" {
		receiver = n.Receiver
	}
	most, before := max(1, integrations[receiver]), 0
	for _, child := range n.children {
		here := before + child.fanOut(receiver, integrations)
		most = max(most, here)
		if child.Continue {
			before = here
		}
	}
	return most
}

// integrationsOf returns the number of integrations of each receiver.
func integrationsOf(receivers []v1alpha1.Receiver) map[string]int {
	out := make(map[string]int, len(receivers))
	for i := range receivers {
		r := reflect.ValueOf(&receivers[i]).Elem()
		for j := range r.NumField() {
			if list := r.Field(j); list.Kind() == reflect.Slice {
				out[receivers[i].Name] += list.Len()
			}
		}
	}
	return out
}
