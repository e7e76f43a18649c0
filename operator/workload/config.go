package workload

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Config holds the operator's settings for generated objects.
type Config struct {
	// OperatorVersion is part of the input hash, so that a new operator compares every StatefulSet once.
	OperatorVersion string
	// Localhost is the host name for connections between containers of a pod. Empty means "localhost".
	Localhost string
	// Labels and Annotations are added to every generated object. Labels are also added
	// to the pods and selectors of StatefulSets.
	Labels, Annotations map[string]string
	// PrometheusBaseImage, ThanosBaseImage and AlertmanagerBaseImage are repositories
	// without a tag; the image of the user's object takes precedence.
	PrometheusBaseImage, ThanosBaseImage string
	AlertmanagerBaseImage                string `json:",omitempty"`
	// ClusterDomain is the suffix of Service names, for example "cluster.local"; empty
	// relies on the DNS search path of the pods.
	ClusterDomain string `json:",omitempty"`
	// ConfigReloaderImage and RulesReloaderImage are complete references.
	ConfigReloaderImage, RulesReloaderImage string
	// PartsReaders are image repositories, without tag, of reloaders that read a
	// configuration in parts like this project's config-reloader.
	PartsReaders []string `json:",omitempty"`
	// ReloaderResources applies to each reloader container.
	ReloaderResources ReloaderResources
	// EnableReloaderProbes adds probes to the reloader sidecars.
	EnableReloaderProbes bool
	// Layout defines which reloader containers a pod has.
	Layout Layout
	// TopologySharding is the feature gate PrometheusTopologySharding.
	TopologySharding bool
	// ShardRetention is the feature gate PrometheusShardRetentionPolicy.
	ShardRetention bool
	// Discovery is the discovery service of workloads with central discovery.
	Discovery Discovery `json:",omitzero"`
	// WatchAllReferences means that referenced Secrets and ConfigMaps are watched in all
	// namespaces. It is only part of the input hash.
	WatchAllReferences bool
}

// Discovery describes the discovery service.
type Discovery struct {
	// Address is its host:port; empty if no workload may have central discovery.
	Address string
	// OwnCA means that its certificate is signed by a CA that pods do not trust otherwise.
	OwnCA bool
	// Shards means that it decides the number of shards of workloads.
	Shards bool
}

// Layout is the division of work between reloader containers.
type Layout string

const (
	// LayoutSplit has config-reloader for the configuration and rules-reloader for the
	// rules. It is the default, for unknown values too.
	LayoutSplit Layout = "split"
	// LayoutSingle has one config-reloader for both.
	LayoutSingle Layout = "single"
)

// ReloaderResources are the requests and limits of a reloader container. A zero quantity is omitted.
type ReloaderResources struct {
	CPURequest, CPULimit, MemoryRequest, MemoryLimit resource.Quantity
}

// localhost returns Localhost or its default.
func (c Config) localhost() string {
	if c.Localhost == "" {
		return "localhost"
	}
	return c.Localhost
}
