package promworkload

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Gates returns the gated arguments in the order in which they are written. Arguments
// that servers and agents share are listed only under "prometheus".
func Gates() []workload.Gate {
	server := ForServer(&v1.Prometheus{}, workload.Config{})
	agent := ForAgent(&v1alpha1.PrometheusAgent{}, workload.Config{})
	out := workload.GatesOf("prometheus", commonArgs, server)
	out = append(out, workload.GatesOf("prometheus", serverArgs, server)...)
	out = append(out, workload.GatesOf("prometheus agent", agentArgs, agent)...)
	return append(out, workload.GatesOf("thanos sidecar", thanosArgs, nil)...)
}
