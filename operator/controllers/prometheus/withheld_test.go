package prometheus

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// The error about a configuration that is too large names the largest contributors.
func TestTooLargeNamesWhoseItIs(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	all := distinctMonitors(3000)
	for i, m := range all {
		m.Namespace = "team-" + fmt.Sprint(i%5)
		switch {
		case i < 2000:
			m.Namespace = "many"
		case i == 2000:
			m.Namespace, m.Name = "one", "huge"
			m.Spec.Endpoints[0].RelabelConfigs = []v1.RelabelConfig{{TargetLabel: "x", Replacement: new(strings.Repeat("0123456789", 1<<17))}}
		}
	}
	w.services = distinctMonitors(300)
	w.pass() // writes the configuration in parts
	w.config.ConfigReloaderImage = "other/reloader:v1"
	w.services = all
	_, _, err := w.desired()
	tooLarge, ok := errors.AsType[*configsecret.TooLargeError](err)
	if !ok || len(tooLarge.Namespaces) != 3 || tooLarge.Namespaces[0].Name != "many" && tooLarge.Namespaces[1].Name != "many" {
		t.Fatalf("error %v", err)
	}
	for _, part := range []string{"most of it is from the namespaces ", "one (1.3 MiB), ", "many (", "the largest object is ServiceMonitor one/huge (1.3 MiB); "} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
