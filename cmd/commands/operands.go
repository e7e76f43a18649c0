package commands

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// workload returns the settings of generated objects from the flags.
//
// Errors: a quantity does not parse.
func (o *Options) workload() (workload.Config, error) {
	cfg := workload.Config{
		OperatorVersion: version.Version,
		Localhost:       o.Localhost,
		Labels:          o.Labels, Annotations: o.Annotations,
		PrometheusBaseImage: o.PrometheusBase, ThanosBaseImage: o.ThanosBase, AlertmanagerBaseImage: o.AlertmanagerBase,
		ClusterDomain:       o.ClusterDomain,
		ConfigReloaderImage: o.ConfigReloaderImage, RulesReloaderImage: o.RulesReloaderImage,
		PartsReaders:         o.PartsReaders,
		EnableReloaderProbes: o.ReloaderProbes,
		Layout:               workload.Layout(o.ReloaderLayout),
		TopologySharding:     o.FeatureGates.On(gateTopologySharding),
		ShardRetention:       o.FeatureGates.On(gateShardRetention),
		WatchAllReferences:   o.WatchReferences,
	}
	for _, q := range []struct {
		flag, text, fallback string
		into                 *resource.Quantity
	}{
		{"config-reloader-cpu-request", o.CPURequest, "10m", &cfg.ReloaderResources.CPURequest},
		{"config-reloader-cpu-limit", o.CPULimit, "10m", &cfg.ReloaderResources.CPULimit},
		{"config-reloader-memory-request", o.MemoryRequest, "50Mi", &cfg.ReloaderResources.MemoryRequest},
		{"config-reloader-memory-limit", o.MemoryLimit, "50Mi", &cfg.ReloaderResources.MemoryLimit},
	} {
		text := q.text
		if text == "" {
			text = q.fallback
		}
		var err error
		if *q.into, err = resource.ParseQuantity(text); err != nil {
			return cfg, fmt.Errorf("--%s=%s: %w", q.flag, q.text, err)
		}
	}
	return cfg, nil
}

// Versions of Kubernetes that introduced a feature.
var (
	endpointSlicesSince = semver.MustParse("1.21.0")
	podTopologySince    = semver.MustParse("1.35.0")
)

// parseKubernetes parses the version of an API server. It uses only the numbers, because
// semver would take suffixes of vendors for pre-releases.
func parseKubernetes(text string) (*semver.Version, error) {
	v, err := semver.NewVersion(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("parse Kubernetes version %q: %w", text, err)
	}
	return semver.New(v.Major(), v.Minor(), v.Patch(), "", ""), nil
}

func (o *Options) capabilities(kubernetes *semver.Version) promconfig.Capabilities {
	return promconfig.Capabilities{
		EndpointSlice:     !kubernetes.LessThan(endpointSlicesSince),
		PodTopologyLabels: !kubernetes.LessThan(podTopologySince),
		AgentDaemonSet:    o.FeatureGates.On(gateAgentDaemonSet),
		ShardRetention:    o.FeatureGates.On(gateShardRetention),
		TopologySharding:  o.FeatureGates.On(gateTopologySharding),
	}
}
