package promconfig

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// Roles of Kubernetes discovery.
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
	// Namespaces to look into; all when absent.
	Namespaces *NamespaceDiscovery `yaml:"namespaces,omitempty"`
	// APIServer to ask instead of the pod's own.
	APIServer `yaml:",inline"`
	// AttachMetadata adds labels of the target's node.
	AttachMetadata *AttachMetadata `yaml:"attach_metadata,omitempty"`
	// Selectors limit what is watched, one per role.
	Selectors []RoleSelector `yaml:"selectors,omitempty"`
}

// NamespaceDiscovery lists namespaces to discover in.
type NamespaceDiscovery struct {
	// Names in the user's order.
	Names []string `yaml:"names"`
}

// APIServer says how to reach the Kubernetes API from outside of the pod's defaults.
type APIServer struct {
	// Host is a URL or host:port.
	Host string `yaml:"api_server,omitempty"`
	// BasicAuth credentials.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// BearerToken in clear text, deprecated.
	BearerToken string `yaml:"bearer_token,omitempty"`
	// BearerTokenFile is a path in the container, deprecated.
	BearerTokenFile string `yaml:"bearer_token_file,omitempty"`
	// Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// TLSConfig towards the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Proxy towards the API.
	clientconfig.Proxy `yaml:",inline"`
}

// AttachMetadata asks for labels of the target's node.
type AttachMetadata struct {
	// Node adds the node's labels.
	Node bool `yaml:"node"`

	role string
}

// Since depends on the role: pods learned it before services did.
func (a *AttachMetadata) Since() string {
	if a.role == rolePod {
		return "2.35.0"
	}
	return "2.37.0"
}

// RoleSelector limits what is watched of one role.
type RoleSelector struct {
	// Role of the watched objects.
	Role string `yaml:"role"`
	// Label selector as Kubernetes prints it; may be empty.
	Label *string `yaml:"label,omitempty"`
	// Field selector.
	Field string `yaml:"field,omitempty"`
}

// apiServer reads spec.apiserverConfig of the owner. Its references resolve in
// the owner's namespace wherever the monitor lives.
func (r *resolver) apiServer(c *v1.APIServerConfig) (APIServer, error) {
	if c == nil {
		return APIServer{}, nil
	}
	var (
		out = APIServer{Host: c.Host, BearerToken: c.BearerToken, BearerTokenFile: c.BearerTokenFile}
		err = clientconfig.AtMostOne(
			way("basicAuth", c.BasicAuth != nil), way("authorization", c.Authorization != nil),
			way("bearerToken", c.BearerToken != ""), way("bearerTokenFile", c.BearerTokenFile != ""),
		)
	)
	if err != nil {
		return APIServer{}, err
	}
	if out.BasicAuth, err = r.BasicAuth(c.BasicAuth); err != nil {
		return APIServer{}, fmt.Errorf("basicAuth: %w", err)
	}
	if out.Authorization, err = r.FullAuthorization(c.Authorization); err != nil {
		return APIServer{}, fmt.Errorf("authorization: %w", err)
	}
	if out.TLSConfig, err = r.TLS(c.TLSConfig); err != nil {
		return APIServer{}, fmt.Errorf("tlsConfig: %w", err)
	}
	if out.Proxy, err = r.Proxy(c.ProxyConfig); err != nil {
		return APIServer{}, err
	}
	return out, nil
}

// endpointsRole picks the discovery role for Services. EndpointSlices need the
// cluster, the version and the user to agree; otherwise it is endpoints.
func endpointsRole(role v1.ServiceDiscoveryRole, c Capabilities, t gate.Target) string {
	if role == v1.EndpointSliceRole && c.EndpointSlice && t.AtLeast("2.21.0") {
		return roleEndpointSlice
	}
	return roleEndpoints
}

// namespaces returns where a monitor looks for targets; nil means everywhere.
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

// attachMetadata is the monitor's, else the class's. Below the version of
// Kubernetes that puts zones on pods, topology sharding needs the node's labels.
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

// selectors limits what is watched, for the mechanisms that ask for it. The
// node of an agent's DaemonSet pod and the label selector share the entry of
// the pod role, as the server refuses two entries of one role.
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

// checkMechanism refuses role selectors for servers that do not know them.
func checkMechanism(m v1.SelectorMechanism, t gate.Target) error {
	if m == v1.SelectorMechanismRoleSelector && !t.AtLeast("2.17.0") {
		return fmt.Errorf("selectorMechanism: %s needs Prometheus >= 2.17.0", m)
	}
	return nil
}
