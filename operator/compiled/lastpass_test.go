package compiled

import (
	"runtime"
	"strings"
	"testing"
	"weak"

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

// TestLastPassKeepsNoObjects: another copy of the same version is found, another version or a stub is
// not, and objects of a pass can be collected.
func TestLastPassKeepsNoObjects(t *testing.T) {
	monitor := func(version string, stub bool) *v1.ServiceMonitor {
		m := &v1.ServiceMonitor{}
		m.Namespace, m.Name, m.UID, m.ResourceVersion = "a", "web", "1", version
		m.Spec.JobLabel = strings.Repeat("x", 1<<20)
		m.GetDecoding().LeftOut = stub
		return m
	}
	var p LastPass[int]
	p.Begin("a")
	first := monitor("1", false)
	held := weak.Make(first)
	p.note(v1.ServiceMonitorKind, first, 7)
	runtime.GC()
	if held.Value() != nil {
		t.Error("the object of a pass is kept")
	}
	for _, tc := range []struct {
		object *v1.ServiceMonitor
		found  bool
	}{{monitor("1", false), true}, {monitor("2", false), false}, {monitor("1", true), false}} {
		p.Begin("a")
		if _, found := p.find(v1.ServiceMonitorKind, tc.object); found != tc.found {
			t.Errorf("version %s, stub %t: found %t", tc.object.ResourceVersion, tc.object.GetDecoding().LeftOut, found)
		}
		p.note(v1.ServiceMonitorKind, monitor("1", false), 7)
	}
}
