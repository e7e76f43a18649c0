package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A stored object that is small in JSON but would need hundreds of megabytes in memory is
// returned with its metadata, its status and a fault.
func TestTooLargeToBeDecoded(t *testing.T) {
	text := fmt.Sprintf(`{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"a","namespace":"b","uid":"u","resourceVersion":"7","labels":{"team":"x"}},`+
		`"spec":{"endpoints":[%s]},"status":{"bindings":[{"name":"c"}]}}`, strings.TrimSuffix(strings.Repeat("{},", 400_000), ","))
	var o v1.ServiceMonitor
	var err error
	budgettest.AtMost(t, "decoding", 8<<20, func() { err = manifest.DecodeStored([]byte(text), &o) })
	if err != nil || o.Name != "a" || o.Namespace != "b" || o.UID != "u" || o.ResourceVersion != "7" || o.Labels["team"] != "x" || o.Kind != "ServiceMonitor" ||
		len(o.Spec.Endpoints) > 0 || len(o.Status.Bindings) != 1 {
		t.Errorf("%v, %+v", err, o.ObjectMeta)
	}
	if got := fmt.Sprint(v1.Undecodable(&o)); got != "spec.endpoints: has more than 2500 elements, the limit of one ServiceMonitor" {
		t.Errorf("fault %q", got)
	}
}

// The status of such an object is read up to a limit that is above the size of what the operator writes. A larger
// status is marked.
func TestStatusOfAnObjectTooLargeToBeDecoded(t *testing.T) {
	for name, tc := range map[string]struct {
		bindings string
		leftOut  bool
	}{
		"as much as the operator writes": {strings.Repeat(`{"name":"c","conditions":[{"message":"`+strings.Repeat("x", 4<<10)+`"}]},`, budget.BindingsBytes>>12-1), false},
		"more than is read":              {`{"name":"` + strings.Repeat("x", budget.StatusBytes) + `"},`, true},
		"little that takes much memory":  {strings.Repeat("{},", 150_000), true},
		"another type":                   {`{"name":{}},`, true},
	} {
		text := fmt.Sprintf(`{"metadata":{"name":"a"},"spec":{"endpoints":[%s]},"status":{"bindings":[%s]}}`,
			strings.TrimSuffix(strings.Repeat("{},", 4*budget.Endpoints), ","), strings.TrimSuffix(tc.bindings, ","))
		var o v1.ServiceMonitor
		var err error
		budgettest.AtMost(t, "decoding", 8<<20, func() { err = manifest.DecodeStored([]byte(text), &o) })
		if n := len(o.Status.Bindings); err != nil || v1.Undecodable(&o) == nil || v1.StatusLeftOut(&o) != tc.leftOut || (n == 0) != tc.leftOut {
			t.Errorf("%s: %d bindings, left out %t, %v", name, n, v1.StatusLeftOut(&o), err)
		}
	}
}
