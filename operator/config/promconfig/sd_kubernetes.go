package promconfig

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// Roles of Kubernetes service discovery.
const (
	roleEndpoints     = "endpoints"
	roleEndpointSlice = "endpointslice"
	rolePod           = "pod"
	roleService       = "service"
	roleIngress       = "ingress"
)

// KubernetesSD is one entry of kubernetes_sd_configs.
type KubernetesSD struct {
	// Role is endpoints, endpointslice, pod or ingress.
	Role string `yaml:"role"`
	// Namespaces are the namespaces to search; nil for all.
	Namespaces *NamespaceDiscovery `yaml:"namespaces,omitempty"`
	// APIServer replaces the API server of the pod's cluster.
	APIServer `yaml:",inline"`
	// AttachMetadata adds labels of the target's node.
	AttachMetadata *AttachMetadata `yaml:"attach_metadata,omitempty"`
	// Selectors restrict the watched objects, one per role.
	Selectors []RoleSelector `yaml:"selectors,omitempty"`
}

// NamespaceDiscovery lists the namespaces to search.
type NamespaceDiscovery struct {
	// Names are in the user's order.
	Names []string `yaml:"names"`
}

// APIServer is how to reach the Kubernetes API other than with the pod's service account.
type APIServer struct {
	// Host is a URL or host:port.
	Host string `yaml:"api_server,omitempty"`
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// BearerToken is in plain text; deprecated.
	BearerToken string `yaml:"bearer_token,omitempty"`
	// BearerTokenFile is a path in the container; deprecated.
	BearerTokenFile string `yaml:"bearer_token_file,omitempty"`
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// TLSConfig is used for connections to the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Proxy is used for connections to the API.
	clientconfig.Proxy `yaml:",inline"`
}

// AttachMetadata adds labels of the target's node.
type AttachMetadata struct {
	// Node enables adding the node's labels.
	Node bool `yaml:"node"`

	role string
}

// Since returns the first version that supports the block, which is lower for pods than for services.
func (a *AttachMetadata) Since() string {
	if a.role == rolePod {
		return "2.35.0"
	}
	return "2.37.0"
}

// RoleSelector restricts the watched objects of one role.
type RoleSelector struct {
	// Role is the role of the watched objects.
	Role string `yaml:"role"`
	// Label is a label selector in Kubernetes string form; may be empty.
	Label *string `yaml:"label,omitempty"`
	// Field is a field selector.
	Field string `yaml:"field,omitempty"`
}

// apiServer resolves spec.apiserverConfig of the workload. Its references always resolve
// in the workload's namespace.
func (r *resolver) apiServer(c *v1.APIServerConfig) (APIServer, error) {
	if c == nil {
		return APIServer{}, nil
	}
	out, errs := APIServer{Host: c.Host, BearerToken: c.BearerToken, BearerTokenFile: c.BearerTokenFile}, faults.List{}
	errs.Add("", clientconfig.AtMostOne(
		way("basicAuth", c.BasicAuth != nil), way("authorization", c.Authorization != nil),
		way("bearerToken", c.BearerToken != ""), way("bearerTokenFile", c.BearerTokenFile != ""),
	))
	errs.Add("", checkEndpoint("host", c.Host))
	set(&errs, "basicAuth", &out.BasicAuth)(r.BasicAuth(c.BasicAuth))
	set(&errs, "authorization", &out.Authorization)(r.FullAuthorization(c.Authorization))
	set(&errs, "tlsConfig", &out.TLSConfig)(r.TLS(c.TLSConfig))
	set(&errs, "", &out.Proxy)(r.Proxy(c.ProxyConfig))
	errs.Add("", out.checkHost())
	return out, errs.Err()
}

// checkHost rejects client settings without a host, as the server does.
func (a *APIServer) checkHost() error {
	plain := a.BasicAuth == nil && a.BearerToken == "" && a.BearerTokenFile == "" && a.Authorization == nil &&
		(a.TLSConfig == nil || plainTLS(a.TLSConfig)) && a.Proxy.URL == "" && (a.FromEnvironment == nil || !*a.FromEnvironment)
	if a.Host == "" && !plain {
		return faults.At("host", errors.New("is empty, and the other fields are for it"))
	}
	return nil
}

// endpointsRole returns the discovery role for Services. It is endpointslice if the
// cluster, the version and the user's setting allow it, otherwise endpoints.
func endpointsRole(role v1.ServiceDiscoveryRole, c Capabilities, t gate.Target) string {
	if role == v1.EndpointSliceRole && c.EndpointSlice && t.AtLeast("2.21.0") {
		return roleEndpointSlice
	}
	return roleEndpoints
}

// namespaces returns the namespaces in which a monitor discovers targets; nil means all.
func (s *Settings) namespaces(sel v1.NamespaceSelector, own string) *NamespaceDiscovery {
	switch {
	case s.data.IgnoreNamespaceSelectors:
		return &NamespaceDiscovery{Names: []string{own}}
	case sel.Any:
		return nil
	case len(sel.MatchNames) > 0:
		return &NamespaceDiscovery{Names: sel.MatchNames}
	}
	return &NamespaceDiscovery{Names: []string{own}}
}

// checkNamespaces limits the namespaces that an object of a kind names in a field. Prometheus watches each on its own: thousands
// of them in one monitor exhaust its memory, and the connections of the API server.
func checkNamespaces(kind, field string, n *NamespaceDiscovery) error {
	if n == nil {
		return nil
	}
	return budget.Elements(kind, field, len(n.Names), budget.Namespaces)
}

// attachMetadata returns the block of the monitor, falling back to that of the class.
// With topology sharding, the node's labels are needed on clusters whose Kubernetes
// version does not add zone labels to pods.
func (s *Settings) attachMetadata(monitor, class *v1.AttachMetadata, role string) *AttachMetadata {
	in := monitor
	if in == nil {
		in = class
	}
	if len(s.data.Sharding.Zones) > 0 && !s.data.Sharding.PodTopology {
		return &AttachMetadata{Node: true, role: role}
	}
	if in == nil {
		return nil
	}
	return &AttachMetadata{Node: in.Node != nil && *in.Node, role: role}
}

// selectors returns the selectors that restrict the watched objects, if the mechanism
// uses role selectors or the workload is a DaemonSet. The node of an agent's DaemonSet
// pod and the label selector share the entry of the pod role, because the server rejects
// two entries for the same role.
func (s *Settings) selectors(mechanism v1.SelectorMechanism, sel *metav1.LabelSelector, roles ...string) ([]RoleSelector, error) {
	var out []RoleSelector
	if s.data.DaemonSet {
		out = append(out, RoleSelector{Role: rolePod, Field: "spec.nodeName=$(NODE_NAME)"})
	}
	if mechanism != v1.SelectorMechanismRoleSelector {
		return out, nil
	}
	parsed, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		return nil, err
	}
	text := parsed.String()
	for _, role := range roles {
		if len(out) > 0 && out[0].Role == role {
			out[0].Label = &text
			continue
		}
		out = append(out, RoleSelector{Role: role, Label: &text})
	}
	return out, nil
}

// checkMechanism rejects role selectors for versions that do not support them.
func checkMechanism(m v1.SelectorMechanism, t gate.Target) error {
	if m == v1.SelectorMechanismRoleSelector && !t.AtLeast("2.17.0") {
		return faults.At("selectorMechanism", fmt.Errorf("%s needs Prometheus >= 2.17.0", m))
	}
	return nil
}
