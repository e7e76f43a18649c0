package budget

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestSize(t *testing.T) {
	m := &v1.ServiceMonitor{}
	empty := Size(m, 1<<20)
	m.Spec.Endpoints = make([]v1.Endpoint, 100)
	if grown := Size(m, 1<<20) - empty; grown < 20_000 || grown > 40_000 {
		t.Errorf("100 endpoints take %d bytes", grown)
	}
	before := Size(m, 1<<20)
	m.CreationTimestamp = metav1.Now() // has the local time zone of this process
	if size := Size(m, 1<<20); size != before {
		t.Errorf("a time takes %d bytes more", size-before)
	}
	m.Labels = map[string]string{"a": strings.Repeat("x", 500_000)}
	if size := Size(m, 1<<20); size < 500_000 || size > 600_000 {
		t.Errorf("with a long label %d bytes", size)
	}
	m.Annotations = map[string]string{"a": strings.Repeat("x", 5_000_000)}
	if size := Size(m, 1<<20); size != 1<<20 {
		t.Errorf("a large object counts as %d bytes", size)
	}
}
