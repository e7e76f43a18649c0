package compiled

import (
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestLastPassForgetsWithTheSettings(t *testing.T) {
	var p LastPass[int]
	m := &v1.ServiceMonitor{}
	m.Namespace, m.Name = "a", "web"
	p.Begin("a")
	p.note(v1.ServiceMonitorKind, m, 7)
	p.Begin("a")
	if got, ok := p.find(v1.ServiceMonitorKind, m); !ok || got != 7 {
		t.Errorf("under the same settings: %d, %v", got, ok)
	}
	if _, ok := p.find(v1.PodMonitorKind, m); ok {
		t.Error("found under another kind")
	}
	p.note(v1.ServiceMonitorKind, m, 7)
	p.Begin("b")
	if _, ok := p.find(v1.ServiceMonitorKind, m); ok {
		t.Error("found under other settings")
	}
}
