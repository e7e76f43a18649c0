package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// BenchmarkRun checks one file with a workload and a thousand monitors.
func BenchmarkRun(b *testing.B) {
	for name, endpoint := range map[string]string{
		"good":     "{port: web}",
		"labels":   "{port: web}",
		"field":    "{port: web, intervall: 10s}",
		"invalid":  "{port: web, scheme: gopher}",
		"rejected": "{port: web, interval: 10s, scrapeTimeout: 20s}",
		"missing":  "{port: web, basicAuth: {username: {name: none, key: user}, password: {name: none, key: password}}}",
	} {
		var text strings.Builder
		text.WriteString(anyPrometheus + "  serviceMonitorSelector: {}\n  serviceMonitorNamespaceSelector: {}\n")
		for i := range 1000 {
			fmt.Fprintf(&text, "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata:\n  name: web-%d\n  namespace: app\nspec:\n  selector: {matchLabels: {app: web-%d}}\n  endpoints:\n  - %s\n", i, i, endpoint)
		}
		if name == "labels" { // labels of Services that almost match the monitors
			for i := range 1000 {
				fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: web-%d\n  namespace: app\n  labels: {app: webb-%d}\nspec:\n  selector: {app: web-%d}\n  ports: [{name: web, port: 80}]\n", i, i, i)
			}
		}
		b.Run(name, func(b *testing.B) {
			path := file(b, text.String())
			b.ReportAllocs()
			for b.Loop() {
				o, faults := manifests.LoadAll([]string{path}, kinds())
				if r := Check(o, faults, Options{}); len(r.Findings) > 0 != (name != "good") {
					b.Fatalf("%d findings", len(r.Findings))
				}
			}
		})
	}
}
