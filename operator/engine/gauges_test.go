package engine

import (
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestReplicasGauge: the default is 1, as for the StatefulSet.
func TestReplicasGauge(t *testing.T) {
	three, negative := int32(3), int32(-1)
	for _, tc := range []struct {
		replicas *int32
		want     float64
	}{{nil, 1}, {&three, 3}, {&negative, 1}} {
		w := &v1.ThanosRuler{}
		w.Spec.Replicas = tc.replicas
		if got, ok := replicasGauge.Value(w); got != tc.want || !ok {
			t.Errorf("%v: %v, %v", tc.replicas, got, ok)
		}
	}
}
