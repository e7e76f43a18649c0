package promconfig_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Compiling many oversized objects concurrently needs little memory: with a tight memory
// limit, garbage collection keeps up. Only their errors are retained.
func TestManyWorstMonitors(t *testing.T) {
	p := &v1.Prometheus{}
	s, err := promconfig.ServerSettings(p, promconfig.Capabilities{})
	if err != nil {
		t.Fatal(err)
	}
	const n, most = 64, 96 << 20
	for name, spec := range map[string]v1.ServiceMonitorSpec{
		"too many endpoints": {Endpoints: make([]v1.Endpoint, 70_000)},
		"too much text":      {Endpoints: make([]v1.Endpoint, budget.Endpoints), JobLabel: strings.Repeat("x", 100_000)},
	} {
		var objects []*v1.ServiceMonitor
		for i := range n {
			m := &v1.ServiceMonitor{Spec: spec}
			m.Namespace, m.Name, m.UID = "demo", fmt.Sprintf("m-%03d", i), types.UID(fmt.Sprint(i))
			objects = append(objects, m)
		}
		before := debug.SetGCPercent(20)
		var start, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&start)
		var peak atomic.Int64
		fragments := fragments.All((*fragments.LastPass[promconfig.Fragment])(nil), v1.ServiceMonitorKind, objects, nil, nil, func(m *v1.ServiceMonitor) promconfig.Fragment {
			f := promconfig.CompileServiceMonitor(m, s, &assets.Static{})
			var at runtime.MemStats
			runtime.ReadMemStats(&at)
			peak.Store(max(peak.Load(), int64(at.HeapAlloc)-int64(start.HeapAlloc)))
			return f
		})
		runtime.GC()
		runtime.ReadMemStats(&now)
		debug.SetGCPercent(before)
		for _, f := range fragments {
			if f.Err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		if kept := int64(now.HeapAlloc) - int64(start.HeapAlloc); peak.Load() > most || kept > 4<<20 {
			t.Errorf("%s: %d bytes in between, %d in the end", name, peak.Load(), kept)
		}
		runtime.KeepAlive(objects)
	}
}
