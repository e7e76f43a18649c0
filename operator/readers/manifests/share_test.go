package manifests_test

import (
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Workloads whose settings for monitors are equal compile them once.
func TestReconciliationsShareCompiledObjects(t *testing.T) {
	const workloads = 20
	text := budgettest.Numbered(workloads, "---\napiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p%[1]d, namespace: d}\nspec: {serviceMonitorSelector: {}, externalLabels: {replica: r%[1]d}}\n") +
		budgettest.Numbered(300, "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: m%d, namespace: d}\nspec: {selector: {matchLabels: {app: web}}, endpoints: [{port: web, relabelings: [{action: keep, sourceLabels: [a], regex: x}]}]}\n")
	o, faults := manifests.Read("a.yaml", []byte(text), controllerstest.Kinds(controllerstest.Options()))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	all := o.Workloads()
	first := func() { o.Reconcile(all[0]) }
	first() // regular expressions and types are read once
	one := budgettest.Allocated(first)
	budgettest.AtMost(t, "20 workloads", one*workloads/3, func() {
		defer o.Share()()
		for _, w := range all {
			if out := o.Reconcile(w); out.Err != nil || len(out.Results) != 300 {
				t.Errorf("%d results, %v", len(out.Results), out.Err)
			}
		}
	})
}
