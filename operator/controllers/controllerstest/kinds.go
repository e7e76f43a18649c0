// Package controllerstest provides the kinds of workloads with the settings of an operator without
// flags, for tests of other packages.
package controllerstest

import (
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/alertmanager"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/thanosruler"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Options returns the settings of Prometheus and PrometheusAgent in a current Kubernetes. Images
// have the registry "registry". Workloads may have central discovery.
func Options() prometheus.Options {
	return prometheus.Options{
		Capabilities: promconfig.Capabilities{EndpointSlice: true, PodTopologyLabels: true, TopologySharding: true, ShardRetention: true, CentralDiscovery: true},
		Workload: workload.Config{
			OperatorVersion: "1.2.3", Localhost: "localhost", TopologySharding: true, ShardRetention: true,
			PrometheusBaseImage: "registry/prometheus", ThanosBaseImage: "registry/thanos", AlertmanagerBaseImage: "registry/alertmanager",
			ConfigReloaderImage: "registry/config-reloader:v1.2.3", RulesReloaderImage: "registry/rules-reloader:v1.2.3",
			Discovery: workload.Discovery{Address: "discovery.monitoring.svc:8443"},
		},
	}
}

// Kinds returns all kinds with these settings.
func Kinds(options prometheus.Options) []*engine.Kind {
	cache := &rules.Cache{}
	servers, agents := prometheus.Kinds(options, cache)
	return []*engine.Kind{servers, agents, thanosruler.Kind(options.Workload, cache), alertmanager.Kind(options.Workload)}
}

// Setups returns all kinds of an operator that watches all namespaces and manages every workload.
func Setups(options prometheus.Options) (out []engine.Setup) {
	for _, kind := range Kinds(options) {
		out = append(out, engine.Setup{Kind: kind})
	}
	return out
}
