package dryrun_test

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Run returns the objects that the operator would write for a workload, and the result on each selected object.
func ExampleRun() {
	objects, faults := manifests.Read("shop.yaml", []byte(`
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: shop}
spec: {podMonitorSelector: {}, version: v3.5.0}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: cart, namespace: shop}
spec: {selector: {}, podMetricsEndpoints: [{port: http}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: mail, namespace: shop}
spec: {selector: {}, podMetricsEndpoints: [{port: http, relabelings: [{action: replace, sourceLabels: [app]}]}]}
`), controllerstest.Kinds(controllerstest.Options()))
	if len(faults) > 0 {
		fmt.Println(faults)
		return
	}
	for _, w := range objects.Workloads() {
		outcome := dryrun.Run(w, objects.Cluster(w))
		for _, v := range outcome.Results {
			fmt.Println(v.Kind, v.Object.GetName(), v.Err)
		}
		for _, step := range outcome.Plan.Workload {
			fmt.Println(step.Object.GetName())
		}
	}
	// Output:
	// PodMonitor cart <nil>
	// PodMonitor mail spec.podMetricsEndpoints[0].relabelings[0].targetLabel: replace needs one
	// prometheus-operated
	// prometheus-main
}
