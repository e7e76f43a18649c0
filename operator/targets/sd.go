package targets

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/prometheus/discovery/targetgroup"
)

// KubernetesSD is one entry of kubernetes_sd_configs.
type KubernetesSD struct {
	// Role is endpoints, endpointslice, pod, service, node or ingress.
	Role string `yaml:"role"`
	// Namespaces to discover in.
	Namespaces Namespaces `yaml:"namespaces"`
	// Selectors limit the objects of roles.
	Selectors []Selector `yaml:"selectors"`
	// AttachMetadata adds labels of other objects.
	AttachMetadata AttachMetadata `yaml:"attach_metadata"`
	// APIServer and KubeconfigFile refer to another cluster; empty for the workload's own cluster.
	APIServer      string `yaml:"api_server"`
	KubeconfigFile string `yaml:"kubeconfig_file"`
	// Release of the Prometheus server; nil for the release that is linked.
	Release *semver.Version `yaml:"-"`
}

// Namespaces limit a discovery to namespaces.
type Namespaces struct {
	// Own adds the namespace of the workload's pods.
	Own bool `yaml:"own_namespace"`
	// Names of other namespaces; all namespaces if empty and Own is false.
	Names []string `yaml:"names"`
}

// Selector limits the objects of a role.
type Selector struct {
	// Role of the objects, which can differ from the role of the discovery.
	Role string `yaml:"role"`
	// Label and Field are selectors in the syntax of kubectl.
	Label string `yaml:"label"`
	Field string `yaml:"field"`
}

// AttachMetadata selects metadata that is added to the labels of a target.
type AttachMetadata struct {
	// Node adds the labels of the target's node.
	Node bool `yaml:"node"`
	// Namespace adds the labels and annotations of the target's namespace.
	Namespace bool `yaml:"namespace"`
}

// Discoveries are the service discoveries of a job.
type Discoveries struct {
	// Kubernetes discoveries in the order of the job.
	Kubernetes []KubernetesSD `yaml:"kubernetes_sd_configs"`
	// HTTP discoveries.
	HTTP []HTTPSD `yaml:"http_sd_configs"`
	// Static groups.
	Static []*targetgroup.Group `yaml:"static_configs"`
}

// otherDiscoveries returns the keys of discoveries other than Kubernetes, HTTP and static ones.
func otherDiscoveries(keys map[string]any) (out []string) {
	for key, value := range keys {
		if list, ok := value.([]any); ok && len(list) > 0 && strings.HasSuffix(key, "_sd_configs") {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
