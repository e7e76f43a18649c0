package prometheus

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A large Prometheus with very many shards is rejected before a StatefulSet for each of them is in memory.
func TestLargeShards(t *testing.T) {
	s := newScene()
	s.p.Spec.Shards = new(int32(v1.MaxShards))
	for i := range 20_000 {
		s.p.Spec.Tolerations = append(s.p.Spec.Tolerations, corev1.Toleration{Key: fmt.Sprint(i)})
	}
	in, err := s.gather()
	if err != nil {
		t.Fatal(err)
	}
	budgettest.AtMost(t, "shards", 128<<20, func() {
		if _, err := in.Plan(); err == nil || !strings.Contains(err.Error(), "spec.shards: ") {
			t.Error(err)
		}
	})
}

// A number that the configuration and the pods need is reported once, beside the faults of either.
func TestTooManyShards(t *testing.T) {
	s := newScene()
	s.p.Spec.Shards = new(int32(v1.MaxShards + 1))
	s.p.Spec.Query = &v1.QuerySpec{LookbackDelta: new("soon")}
	_, err := s.gather()
	if got := err.Error(); strings.Count(got, "spec.shards: 1001 is more than 1000") != 1 || !strings.Contains(got, "spec.query.lookbackDelta: ") {
		t.Error(got)
	}
}
