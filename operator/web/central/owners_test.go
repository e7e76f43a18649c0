package central

import (
	"net/http"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestNamesThatLeadToTheSameStatefulSet creates a Prometheus with the name of the StatefulSet of another one's shard, to
// which the operator leaves it: its pods keep their lists.
func TestNamesThatLeadToTheSameStatefulSet(t *testing.T) {
	for name, text := range map[string]string{
		"without central discovery": `{metadata: {namespace: monitoring, name: main-shard-1}, spec: {}}`,
		"of another operator":       `{metadata: {namespace: monitoring, name: main-shard-1, creationTimestamp: "1999-01-01T00:00:00Z", annotations: {operator.prometheus.io/controller-id: other}}, spec: {}}`,
		"another account":           `{metadata: {namespace: monitoring, name: main-shard-1, annotations: {firekeeper.dev/target-discovery: central}}, spec: {serviceAccountName: evil}}`,
		"other jobs":                `{metadata: {namespace: monitoring, name: main-shard-1, annotations: {firekeeper.dev/target-discovery: central}}, spec: {serviceAccountName: prometheus, podMonitorSelector: {matchLabels: {none: x}}}}`,
	} {
		set := func(b *fixture) {
			other := read[v1.Prometheus](t, text)
			if other.CreationTimestamp.IsZero() {
				other.CreationTimestamp.Time = time.Now()
			}
			b.objects.set(catalog.Prometheus.GroupVersionResource(), other)
		}
		keeps := func(t *testing.T, b *fixture) {
			t.Helper()
			if jobs, code := b.list(t, "prometheus-main-shard-1"); code != http.StatusOK || jobs[webJob] == nil {
				t.Errorf("the pod of the second shard got %d, jobs %v", code, jobs)
			}
		}
		t.Run(name+", later", func(t *testing.T) {
			inBubble(t, func(*fixture) {}, func(t *testing.T, b *fixture) {
				settled(5 * time.Second)
				set(b)
				settled(2 * time.Minute)
				keeps(t, b)
			})
		})
		t.Run(name+", from the start", func(t *testing.T) {
			inBubble(t, set, func(t *testing.T, b *fixture) {
				settled(5 * time.Second)
				keeps(t, b)
			})
		})
	}
}
