package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Monitors that no workload among the manifests selects are never too many: how much memory the
// config-reloaders of their workloads have, and how many workloads there are, is not known. With a
// workload that selects all of them, those that do not fit are reported.
func TestManyMonitorsWithoutAWorkload(t *testing.T) {
	options := controllerstest.Options()
	options.Workload.ReloaderResources.MemoryLimit = resource.MustParse("20Mi")
	var text strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&text, "---\n{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: app-%d, namespace: shop}, spec: {selector: {matchLabels: {app: a}}, endpoints: [{port: a}, {port: b}, {port: c}, {port: d}]}}\n", i)
	}
	const all = "---\n{apiVersion: monitoring.coreos.com/v1, kind: Prometheus, metadata: {name: main, namespace: shop}, spec: {serviceMonitorSelector: {}}}\n"
	for text, want := range map[string]bool{text.String(): false, all + text.String(): true} {
		if got := leftOut(t, options, text); got > 0 != want {
			t.Errorf("%d of 1500 monitors are left out, with a workload: %v", got, want)
		}
	}
}

func leftOut(t *testing.T, options prometheus.Options, text string) (n int) {
	t.Helper()
	setups := controllerstest.Setups(options)
	objects, faults := manifests.Read("a.yaml", []byte(text), explain.Kinds(setups))
	for _, f := range lint.Check(objects, faults, lint.Options{}).Findings {
		if strings.Contains(f.Message, "left out, because") {
			n++
		}
	}
	return n
}
