package workload

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Config is what the operator's own flags say about the objects it generates.
type Config struct {
	// OperatorVersion enters the input hash, so that a new operator looks at
	// every StatefulSet once.
	OperatorVersion string
	// Localhost is the host name under which containers of one pod reach each
	// other. Empty means "localhost".
	Localhost string
	// Labels and Annotations are put on every generated object. Labels also
	// reach the pods and the selectors of the StatefulSets.
	Labels, Annotations map[string]string
	// PrometheusBaseImage, ThanosBaseImage and AlertmanagerBaseImage are repositories
	// without a tag; an owner's image wins.
	PrometheusBaseImage, ThanosBaseImage string
	AlertmanagerBaseImage                string `json:",omitempty"`
	// ClusterDomain ends the names of Services, as in "cluster.local"; empty relies on
	// the DNS search path of the pods.
	ClusterDomain string `json:",omitempty"`
	// ConfigReloaderImage and RulesReloaderImage are complete references.
	ConfigReloaderImage, RulesReloaderImage string
	// PartsReaders are repositories of images, without tag, that read a
	// configuration in parts like this project's config-reloader.
	PartsReaders []string `json:",omitempty"`
	// ReloaderResources is for each reloader container.
	ReloaderResources ReloaderResources
	// EnableReloaderProbes adds probes to the reloader sidecars.
	EnableReloaderProbes bool
	// Layout says which reloader containers a pod has.
	Layout Layout
	// TopologySharding is the gate PrometheusTopologySharding.
	TopologySharding bool
	// ShardRetention is the gate PrometheusShardRetentionPolicy.
	ShardRetention bool
	// WatchAllReferences says that referenced Secrets and ConfigMaps are watched
	// in all namespaces. It only enters the input hash.
	WatchAllReferences bool
}

// Layout is the division of work between reloader containers.
type Layout string

const (
	// LayoutSplit has config-reloader for the configuration and rules-reloader
	// for the rules. It is the default; an unknown value means it too.
	LayoutSplit Layout = "split"
	// LayoutSingle has one config-reloader for both.
	LayoutSingle Layout = "single"
)

// ReloaderResources are requests and limits of a reloader container. A quantity
// of zero is left out.
type ReloaderResources struct {
	CPURequest, CPULimit, MemoryRequest, MemoryLimit resource.Quantity
}

// localhost is Localhost or its default.
func (c Config) localhost() string {
	if c.Localhost == "" {
		return "localhost"
	}
	return c.Localhost
}
